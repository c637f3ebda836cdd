// A robot in three dimensions. What is where comes from the generated function, which knows the kinematics.
import {
  BoxGeometry, BufferAttribute, BufferGeometry, CylinderGeometry, Group, LineBasicMaterial, LineSegments, Mesh,
  MeshLambertMaterial, Quaternion, SphereGeometry, TorusGeometry, Vector3,
} from "three";

// Numbers of a link in the output: where its parent ends, the joint, root frame (r, R), tip frame (r, R); then sections.
const BEFORE = 0, HINGE = 3, ROOT = 6, TIP = 18, SECTIONS = 30, SECTION = 12;
const AROUND = 20;
// Radii as shares of the robot's size.
const BEAM = 0.011, ROD = 0.007, WIDEST = 0.02, ELLIPSOID = 0.15, POINT = 0.03, SMALLEST = 0.012, AXES = 0.07;
// What does not hold is pale and thin: opacity, and its radius as a share of that of a rod.
const SLACK = 0.35, THIN = 0.5;
// Of more links drums and boxes are smaller: they would hide short links.
const MANY = 12;
// Okabe and Ito's colours.
export const COLOURS = {
  beam: 0x0072b2, stripe: 0xf0e442, rigid: 0x8a8f98, joint: 0x3b3f46, slide: 0x009e73, body: 0x9aa0a8, payload: 0xe69f00,
  element: 0xcc79a7,
  measured: 0xe69f00, held: 0xcc79a7, endpoint: 0xd55e00, force: 0xd55e00, moment: 0xcc79a7, line: 0xd55e00, "reaction force": 0x8a8f98, "reaction moment": 0x8a8f98, gravity: 0x56b4e9, velocity: 0x0072b2, rotation: 0xd55e00,
};
const UP = new Vector3(0, 1, 0);

function place(object, y, at) {
  const m = at + 3;
  object.matrix.set(
    y[m], y[m + 3], y[m + 6], y[at], y[m + 1], y[m + 4], y[m + 7], y[at + 1], y[m + 2], y[m + 5], y[m + 8], y[at + 2],
    0, 0, 0, 1,
  );
  object.matrixWorldNeedsUpdate = true;
}

function framed() {
  const group = new Group();
  group.matrixAutoUpdate = false;
  return group;
}

const from = new Vector3(), to = new Vector3(), way = new Vector3(), turn = new Quaternion();

// A cylinder between two points.
function stretch(mesh, y, a, z, b) {
  from.fromArray(y, a);
  to.fromArray(z, b);
  way.subVectors(to, from);
  const length = way.length();
  mesh.visible = length > 1e-9;
  if (!mesh.visible) return;
  mesh.position.addVectors(from, to).multiplyScalar(0.5);
  mesh.quaternion.copy(turn.setFromUnitVectors(UP, way.divideScalar(length)));
  mesh.scale.set(1, length, 1);
}

// A surface around the sections of a beam: all around, or a stripe on either side that shows how they turn.
class Skin {
  constructor(count, radius, arcs, material) {
    const rows = arcs.map(([start, end, steps]) => [...Array(steps + 1).keys()].map((k) => start + ((end - start) * k) / steps));
    const angles = rows.flat();
    this.count = count;
    this.cos = angles.map(Math.cos);
    this.sin = angles.map(Math.sin);
    this.radius = radius;
    const size = angles.length, index = [];
    for (let k = 0; k + 1 < count; k++) {
      let first = 0;
      for (const row of rows) {
        for (let i = first; i + 1 < first + row.length; i++) {
          const a = k * size + i, b = a + size;
          index.push(a, a + 1, b, a + 1, b + 1, b);
        }
        first += row.length;
      }
    }
    const geometry = new BufferGeometry();
    geometry.setIndex(index);
    for (const word of ["position", "normal"]) {
      geometry.setAttribute(word, new BufferAttribute(new Float32Array(3 * size * count), 3));
    }
    this.mesh = new Mesh(geometry, material);
    this.mesh.frustumCulled = false;
  }

  bend(y, at) {
    const { position, normal } = this.mesh.geometry.attributes, p = position.array, n = normal.array;
    let i = 0;
    for (let k = 0; k < this.count; k++, at += SECTION) {
      for (let j = 0; j < this.cos.length; j++) {
        for (let axis = 0; axis < 3; axis++, i++) {
          n[i] = y[at + 6 + axis] * this.cos[j] + y[at + 9 + axis] * this.sin[j];
          p[i] = y[at + axis] + this.radius * n[i];
        }
      }
    }
    position.needsUpdate = normal.needsUpdate = true;
  }
}

function triad(length) {
  const geometry = new BufferGeometry();
  const points = [0, 0, 0, length, 0, 0, 0, 0, 0, 0, length, 0, 0, 0, 0, 0, 0, length];
  const colours = [0.84, 0.37, 0, 0.84, 0.37, 0, 0, 0.62, 0.45, 0, 0.62, 0.45, 0, 0.45, 0.7, 0, 0.45, 0.7];
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
  geometry.setAttribute("color", new BufferAttribute(new Float32Array(colours), 3));
  return new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true }));
}

// Directions whose ends at so much more than 1 hold the unit sphere.
const CORNERS = [-1, 0, 1].flatMap((x) => [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((z) => new Vector3(x, y, z))))
  .filter((each) => each.length()).map((each) => each.setLength(1.13));
// Points around an ellipsoid, which is the first in its frame.
export function around(frame, found) {
  const { matrixWorld } = frame.children[0];
  for (const each of CORNERS) found.push(...from.copy(each).applyMatrix4(matrixWorld));
}

export class Arm {
  // `ghost`: pale, lines and beams only.
  constructor(robot, scene, ghost) {
    this.robot = robot;
    this.scene = scene;
    this.y = new Float64Array(robot.numbers);
    this.z = new Float64Array(robot.numbers);
    this.group = new Group();
    this.frames = [];
    this.bodies = [];
    const size = robot.size;
    const paint = (colour) =>
      new MeshLambertMaterial(ghost ? { color: 0x808890, transparent: true, opacity: 0.28, depthWrite: false } : { color: colour });
    const paints = Object.fromEntries(Object.entries(COLOURS).map(([word, colour]) => [word, paint(colour)]));
    const rod = new CylinderGeometry(ROD * size, ROD * size, 1, 12);
    const add = (mesh) => (this.group.add(mesh), mesh);
    this.links = robot.links.map((link) => {
      const part = { link, root: add(framed()), tip: add(framed()), rods: [] };
      for (let i = 0; i < (link.free ? 0 : 3); i++) part.rods.push(add(new Mesh(rod, paints.rigid)));
      if (link.sections) {
        part.skins = [new Skin(link.sections, BEAM * size, [[0, 2 * Math.PI, AROUND]], paints.beam)];
        // Two stripes, on the sides of +z and -z of the sections.
        const half = 0.3, quarter = Math.PI / 2;
        const arcs = [[quarter - half, quarter + half, 3], [-quarter - half, -quarter + half, 3]];
        if (!ghost) part.skins.push(new Skin(link.sections, 1.04 * BEAM * size, arcs, paints.stripe));
        for (const skin of part.skins) part.root.add(skin.mesh);
      }
      if (!ghost) this.furnish(part, paints, size);
      return part;
    });
    this.elements = robot.elements.map((at) => ({ at, mesh: add(new Mesh(rod, paints.element)) }));
    this.taut = paints.element;
    this.slack = Object.assign(paints.element.clone(), { transparent: true, opacity: SLACK });
    this.endpoint = new Mesh(new SphereGeometry(1.5 * ROD * size, 16, 12), paints.endpoint);
    this.endpoint.position.fromArray(robot.endpoint.position);
    this.links[robot.endpoint.link].tip.add(this.endpoint);
    const reach = new Mesh(rod, paints.rigid);
    stretch(reach, [0, 0, 0], 0, robot.endpoint.position, 0);
    this.links[robot.endpoint.link].tip.add(reach);
    for (const mount of robot.mounts) {
      const arm = new Mesh(rod, paints.rigid), { root, tip } = this.links[mount.link];
      stretch(arm, mount.from, 0, mount.to, 0);
      (mount.tip ? tip : root).add(arm);
    }
    if (!ghost) this.load(paints, size);
  }

  // Joints by kind, and frames on demand.
  furnish(part, paints, size) {
    const { joint, tilts } = part.link, DRUM = WIDEST * Math.min(1, MANY / this.robot.links.length);
    if (joint) {
      part.joint = framed();
      const shape = joint.revolute
        ? new CylinderGeometry(DRUM * size, DRUM * size, 2.2 * DRUM * size, 24)
        : new BoxGeometry(2 * DRUM * size, 2 * DRUM * size, 2.6 * DRUM * size);
      const mesh = new Mesh(shape, joint.revolute ? paints.joint : paints.slide);
      if (joint.revolute) mesh.rotation.x = Math.PI / 2;
      part.joint.add(mesh);
      this.group.add(part.joint);
    } else if (tilts) {
      part.root.add(new Mesh(new TorusGeometry(1.15 * DRUM * size, 0.25 * DRUM * size, 8, 24), paints.slide));
    }
    if (part.link.free) return;
    for (const frame of [part.root, part.tip]) {
      const axes = triad(AXES * size);
      axes.visible = false;
      frame.add(axes);
      this.frames.push(axes);
    }
  }

  // Bodies as the ellipsoids that have their mass and inertia.
  load(paints, size) {
    const heaviest = Math.max(0, ...this.robot.bodies.map((body) => body.mass));
    for (const body of this.robot.bodies) {
      const part = this.links[body.link];
      const material = (body.payload ? paints.payload : paints.body).clone();
      Object.assign(material, { transparent: true, opacity: 0.5 });
      const mesh = new Mesh(new SphereGeometry(1, 24, 16), material);
      const least = Math.max(SMALLEST, POINT * Math.cbrt(body.mass / heaviest)) * size;
      const cut = body.half ? Math.min(1, (ELLIPSOID * size) / Math.max(...body.half)) : 1;
      const half = body.half ? body.half.map((a) => Math.max(cut * a, 0.5 * SMALLEST * size)) : [least, least, least];
      const outer = framed();
      place(outer, [...body.com, ...body.R], 0);
      mesh.scale.fromArray(half);
      outer.add(mesh);
      (body.tip ? part.tip : part.root).add(outer);
      this.bodies.push(outer);
    }
  }

  // At q, which may be exaggerated; whether tendons hold is seen where the robot really is.
  pose(q, real = q) {
    const y = this.y, z = this.robot.tendons.length && real !== q ? this.z : y;
    if (z !== y) this.scene(real, z);
    this.scene(q, y);
    for (const part of this.links) {
      const { at, sections } = part.link;
      place(part.root, y, at + ROOT);
      place(part.tip, y, at + TIP);
      if (part.link.free) continue;
      stretch(part.rods[0], y, at + BEFORE, y, at + HINGE);
      stretch(part.rods[1], y, at + HINGE, y, at + ROOT);
      if (sections) {
        for (const skin of part.skins) skin.bend(y, at + SECTIONS);
        to.fromArray(y, at + SECTIONS).applyMatrix4(part.root.matrix);
        stretch(part.rods[2], y, at + ROOT, to.toArray(), 0);
      } else {
        stretch(part.rods[2], y, at + ROOT, y, at + TIP);
      }
      if (part.joint) {
        place(part.joint, y, at + ROOT);
        part.joint.matrix.setPosition(y[at + HINGE], y[at + HINGE + 1], y[at + HINGE + 2]);
      }
    }
    for (const { at, mesh } of this.elements) stretch(mesh, y, at, y, at + 3);
    for (const { first, count, rest } of this.robot.tendons) {
      const pieces = this.elements.slice(first, first + count);
      const long = pieces.reduce((sum, { at }) => sum + Math.hypot(...[0, 1, 2].map((i) => z[at + i] - z[at + 3 + i])), 0);
      for (const { mesh } of pieces) {
        mesh.material = long > rest ? this.taut : this.slack;
        if (!(long > rest)) mesh.scale.x = mesh.scale.z = THIN;
      }
    }
    this.group.updateMatrixWorld(true);
  }

  // Where the endpoint is drawn, in the base frame.
  tip(target = new Vector3()) {
    return this.endpoint.getWorldPosition(target);
  }

  // Points whose hull holds what is drawn but for some width: x, y, z one after the other, at the end of `found`.
  outline(found, bodies) {
    const add = (point) => found.push(point.x, point.y, point.z);
    add(from.set(0, 0, 0));
    add(this.tip(from));
    for (const { link: { at, sections }, root } of this.links) {
      for (const place of [HINGE, ROOT, TIP]) add(from.fromArray(this.y, at + place));
      for (let k = 0; k < sections; k++) add(from.fromArray(this.y, at + SECTIONS + SECTION * k).applyMatrix4(root.matrix));
    }
    for (const { at } of this.elements) for (const k of [at, at + 3]) add(from.fromArray(this.y, k));
    for (const body of bodies ? this.bodies : []) around(body, found);
  }

  root(link) {
    return this.point(this.robot.links[link].at + HINGE);
  }

  point(at) {
    return new Vector3().fromArray(this.y, at);
  }

  // A section of a beam, from 0 at its root to 1 at its tip.
  along(link, share) {
    const { at, sections } = this.robot.links[link];
    return this.point(at + SECTIONS + SECTION * Math.round(share * (sections - 1))).applyMatrix4(this.links[link].root.matrixWorld);
  }
}

export { triad, place, framed };
