// The stage: camera, light, floor, and drawing only when something has changed.
import {
  AmbientLight, Color, DirectionalLight, GridHelper, OrthographicCamera, PerspectiveCamera, Scene, Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

const FOV = 35, MARGIN = 1.18;
const half = Math.tan((FOV * Math.PI) / 360);

export class Stage {
  constructor(canvas, up, normal, changed) {
    this.canvas = canvas;
    this.up = up;
    this.normal = normal;
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

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    if (!width || !height) return;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(width, height);
    this.aspect = width / height;
    this.perspective.aspect = this.aspect;
    this.perspective.updateProjectionMatrix();
    this.frustum();
    this.changed();
  }

  frustum() {
    const tall = this.tall ?? 1;
    Object.assign(this.parallel, { top: tall, bottom: -tall, left: -tall * this.aspect, right: tall * this.aspect });
    this.parallel.updateProjectionMatrix();
  }

  // Look from a direction (from the middle to the eye) at all points, as near as shows them all.
  look(direction, points) {
    const ahead = direction.clone().normalize().negate();
    const right = new Vector3().crossVectors(ahead, this.up).normalize(), over = new Vector3().crossVectors(right, ahead);
    const seen = (axis) => points.map((point) => point.dot(axis));
    const [x, y, z] = [right, over, ahead].map(seen);
    const middle = (values) => (Math.min(...values) + Math.max(...values)) / 2;
    const [u, v, w] = [middle(x), middle(y), middle(z)];
    let distance = 0, tall = 0;
    points.forEach((_, i) => {
      const high = MARGIN * Math.max(Math.abs(y[i] - v), Math.abs(x[i] - u) / this.aspect);
      distance = Math.max(distance, high / half - (z[i] - w));
      tall = Math.max(tall, high);
    });
    distance ||= 1;
    this.tall = tall || 1;
    const center = right.multiplyScalar(u).addScaledVector(over, v).addScaledVector(ahead, w);
    this.controls.target.copy(center);
    this.camera.position.copy(center).addScaledVector(ahead, -distance);
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

  fit(points) {
    this.look(this.camera.position.clone().sub(this.controls.target), points);
  }

  // Around the middle of the picture: to a side about what points up, and over it, never beyond.
  orbit(side, over) {
    const { target } = this.controls, away = this.camera.position.clone().sub(target).applyAxisAngle(this.up, side);
    const across = new Vector3().crossVectors(this.up, away).normalize(), angle = away.angleTo(this.up);
    away.applyAxisAngle(across, Math.min(Math.max(angle - over, 0.01), Math.PI - 0.01) - angle);
    this.camera.position.copy(target).add(away);
    this.controls.update();
    this.changed();
  }

  approach(times) {
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
