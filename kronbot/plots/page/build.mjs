// Bundle the page: built/page.js and built/page.css, and the licences of what is inside. Run by `npm run build`.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

// The key of what was built: a test tells when sources and bundle have parted.
const sources = [...readdirSync("source").sort().map((name) => `source/${name}`), "build.mjs", "package-lock.json"];
const hash = createHash("sha256");
for (const name of sources) hash.update(readFileSync(name));
await build({
  entryPoints: ["source/main.js"], bundle: true, minify: true, format: "iife", target: "es2022", charset: "ascii",
  outfile: "built/page.js", legalComments: "none", banner: { js: `/* sources ${hash.digest("hex")} */` },
});
const packages = { "three.js": "three", uPlot: "uplot" };
const licences = Object.entries(packages).map(([name, folder]) => {
  const { version } = JSON.parse(readFileSync(`node_modules/${folder}/package.json`, "utf8"));
  return `${name} ${version}\n\n${readFileSync(`node_modules/${folder}/LICENSE`, "utf8").trim()}\n`;
});
writeFileSync("built/LICENSES.txt", licences.join(`\n${"-".repeat(80)}\n\n`));
