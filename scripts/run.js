/*
 * node scripts/run.js FILE [arguments]: runs one of the project's TypeScript files, if this Node.js can, and else says
 * what to do. npm scripts come here with the project's own Node.js, unless its install script was not run. This file is
 * JavaScript so that an older Node.js can read it.
 */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The oldest version that runs the project's tools. */
const NEEDED = 22

const file = resolve(process.argv[2] ?? '')
if (Number(process.versions.node.split('.')[0]) < NEEDED || !process.features.typescript) {
  console.error(`
This runs on Node.js 24, which the project installs for itself, but it is running on ${process.version}.
Its install script was not run (npm ci --ignore-scripts?). Run it now:

  npm rebuild node esbuild workerd

Or use Node.js 24 yourself.
`)
  process.exit(1)
}
process.argv.splice(1, 2, file)
await import(pathToFileURL(file).href)
