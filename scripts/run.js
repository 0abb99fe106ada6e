/*
 * node scripts/run.js FILE [arguments]: runs one of the project's TypeScript files, if this Node.js can, and else says
 * what to do. npm scripts come here with the project's own Node.js, unless its install script was not run. This file is
 * JavaScript so that an older Node.js can read it.
 */
import { readFileSync } from 'node:fs'
import module from 'node:module'
import { join, resolve } from 'node:path'
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
if (process.argv.includes('--help')) printHead()
// Compiled code is kept. A script then starts in half the time, and wrangler, which scripts start many times, a fifth faster.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../node_modules/.cache/compiled')
module.enableCompileCache()
process.argv.splice(1, 2, file)
await import(pathToFileURL(file).href)

/** Prints the comment at the head of a script that has no help of its own, and exits. It begins with how to run the script. */
function printHead() {
  const text = readFileSync(file, 'utf8')
  const [, head] = /^\/\*\n( \* npm run .*?) \*\//s.exec(text) ?? []
  if (!head || text.includes("lib/flags.ts'")) return
  console.log(`Usage: ${head.replaceAll(/^ \* ?/gm, '')}`)
  process.exit(0)
}
