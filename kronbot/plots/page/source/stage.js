// The stage: camera, light, floor, and drawing only when something has changed.
import {
  AmbientLight, Color, DirectionalLight, GridHelper, OrthographicCamera, PerspectiveCamera, Scene, Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

// Pixels to the left and right of what fits, for letters; the share of the picture that all edges may take together.
const FOV = 35, SIDE = 30, EDGES = 0.4;
const half = Math.tan((FOV * Math.PI) / 360);

export class Stage {
  // `edges`: pixels above and below that hide the picture.
  constructor(canvas, up, normal, edges, changed) {
    this.canvas = canvas;
    this.up = up;
    this.normal = normal;
    this.edges = edges;
    this.changed = changed;
    this.renderer = new WebGLRenderer({ canvas, antialias: true });
    this.scene = new Scene();
    this.perspective = new PerspectiveCamera(FOV, 1, 0.01, 100);
    this.parallel = new OrthographicCamera(-1, 1, 1, -1, 0.01, 100);
    this.camera = this.perspective;
    for (const camera of [this.perspective, this.parallel]) {
      camera.up.copy(up);
      const light = new DirectionalLight(0xffffff, 2);
      light.position.set(0.5, 1, 1);
      camera.add(light);
      this.scene.add(camera);
    }
    this.scene.add(new AmbientLight(0xffffff, 1.3));
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener("change", changed);
    // Whether the view is that of the last fit, which nobody has changed.
    this.fitted = false;
    this.controls.addEventListener("start", () => { this.fitted = false; });
  }

  floor(size, colour) {
    if (this.grid) this.scene.remove(this.grid);
    const step = 10 ** Math.floor(Math.log10(size));
    const width = 2 * step * Math.max(1, Math.ceil(size / step));
    this.grid = new GridHelper(width, Math.round(width / step) * (size / step < 3 ? 4 : 1), colour, colour);
    Object.assign(this.grid.material, { transparent: true, opacity: 0.35, depthWrite: false });
    this.grid.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), this.normal);
    this.scene.add(this.grid);
  }

  background(colour) {
    this.scene.background = new Color(colour);
  }

  // A view that fitted fits again.
  resize() {
    const before = this.aspect;
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    if (!width || !height) return;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(width, height);
    this.aspect = width / height;
    this.perspective.aspect = this.aspect;
    this.perspective.updateProjectionMatrix();
    this.frustum();
    if (this.fitted && this.aspect !== before) this.look(...this.last);
    this.changed();
  }

  frustum() {
    const tall = this.tall ?? 1;
    Object.assign(this.parallel, { top: tall, bottom: -tall, left: -tall * this.aspect, right: tall * this.aspect });
    this.parallel.updateProjectionMatrix();
  }

  // Tangents of what may be seen on either side of the middle, per half of the height: right and left, up and down.
  room() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    const side = 1 - Math.min(EDGES, (2 * SIDE) / width), edges = this.edges(), scale = Math.min(1, (EDGES * height) / (edges[0] + edges[1]));
    return [[side * this.aspect, side * this.aspect], edges.map((edge) => 1 - (2 * scale * edge) / height)];
  }

  // Look from a direction (from the middle to the eye) at points (x, y, z one after the other) with so much around each,
  // as near as shows them all, in the middle of the picture.
  look(direction, points, width) {
    this.last = [direction, points, width];
    this.fitted = true;
    const ahead = direction.clone().normalize().negate();
    const right = new Vector3().crossVectors(ahead, this.up).normalize(), over = new Vector3().crossVectors(right, ahead);
    const count = points.length / 3, room = this.room();
    const [x, y, z] = [right, over, ahead].map((axis) =>
      Float64Array.from({ length: count }, (_, i) => points[3 * i] * axis.x + points[3 * i + 1] * axis.y + points[3 * i + 2] * axis.z));
    // The eye at c sees p, with the width around, where p - c is less than a (z - c_z) and more than -b (z - c_z): how
    // much c - a c_z and -c - b c_z are at least.
    const bounds = (p, [a, b]) => {
      let most = -Infinity, least = -Infinity;
      for (let i = 0; i < count; i++) {
        most = Math.max(most, p[i] - a * z[i]);
        least = Math.max(least, -p[i] - b * z[i]);
      }
      return [most + width * Math.hypot(1, a), least + width * Math.hypot(1, b)];
    };
    const farthest = (p, [a, b]) => {
      const [most, least] = bounds(p, [a, b]);
      return -(most + least) / (a + b);
    };
    const sides = [[x, room[0]], [y, room[1]]].map(([p, each]) => [p, each.map((side) => side * half)]);
    const depth = Math.min(...sides.map(([p, side]) => farthest(p, side)));
    const [near, far] = z.reduce(([low, high], each) => [Math.min(low, each), Math.max(high, each)], [Infinity, -Infinity]);
    const w = (near + far) / 2;
    let center;
    if (this.camera === this.perspective) {
      // With as much room on both sides: where the narrowest angle that holds all ends at this depth.
      center = sides.map(([p, side]) => {
        let narrow = 0, wide = 1;
        for (let i = 0; i < 30; i++) {
          const middle = (narrow + wide) / 2;
          if (farthest(p, side.map((each) => middle * each)) < depth) narrow = middle;
          else wide = middle;
        }
        const [a, b] = side.map((each) => wide * each), [most, least] = bounds(p, [a, b]);
        return (most - least + (a - b) * depth) / 2;
      });
    } else {
      const ends = sides.map(([p]) => bounds(p, [0, 0]));
      this.tall = Math.max(...ends.map(([most, least], i) => (most + least) / (room[i][0] + room[i][1])));
      center = ends.map(([most, least], i) => (most - least - this.tall * (room[i][0] - room[i][1])) / 2);
    }
    const distance = w - depth;
    this.controls.target.copy(right.multiplyScalar(center[0]).addScaledVector(over, center[1]).addScaledVector(ahead, w));
    this.camera.position.copy(this.controls.target).addScaledVector(ahead, -distance);
    this.parallel.zoom = 1;
    for (const camera of [this.perspective, this.parallel]) {
      camera.near = distance / 1000;
      camera.far = 20 * distance;
      camera.updateProjectionMatrix();
    }
    this.frustum();
    this.controls.update();
    this.changed();
  }

  fit(points, width) {
    this.look(this.camera.position.clone().sub(this.controls.target), points, width);
  }

  // Around the middle of the picture: to a side about what points up, and over it, never beyond.
  orbit(side, over) {
    this.fitted = false;
    const { target } = this.controls, away = this.camera.position.clone().sub(target).applyAxisAngle(this.up, side);
    const across = new Vector3().crossVectors(this.up, away).normalize(), angle = away.angleTo(this.up);
    away.applyAxisAngle(across, Math.min(Math.max(angle - over, 0.01), Math.PI - 0.01) - angle);
    this.camera.position.copy(target).add(away);
    this.controls.update();
    this.changed();
  }

  approach(times) {
    this.fitted = false;
    if (this.camera === this.parallel) {
      this.parallel.zoom *= times;
      this.parallel.updateProjectionMatrix();
    } else {
      this.camera.position.sub(this.controls.target).divideScalar(times).add(this.controls.target);
    }
    this.controls.update();
    this.changed();
  }

  // Perspective or parallel, with the middle of the picture as large as it was.
  project(parallel) {
    const next = parallel ? this.parallel : this.perspective;
    if (next === this.camera) return;
    const away = this.camera.position.clone().sub(this.controls.target);
    if (parallel) {
      this.tall = away.length() * half;
      next.zoom = 1;
    } else {
      away.setLength(this.parallel.top / this.parallel.zoom / half);
    }
    next.position.copy(this.controls.target).add(away);
    next.quaternion.copy(this.camera.quaternion);
    this.camera = this.controls.object = next;
    this.frustum();
    this.controls.update();
    this.changed();
  }

  draw() {
    this.renderer.render(this.scene, this.camera);
  }
}
