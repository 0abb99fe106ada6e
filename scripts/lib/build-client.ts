import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { callSource } from './client-calls.ts'
import { command } from './command.ts'
import { openApiDocument } from './openapi-document.ts'
import { ROOT } from './paths.ts'

const SOURCE = join(ROOT, 'client')
/**
 * A body may leave out a field that has a default. Without the first option, the types would require it. The other two name the
 * schemas as the document does.
 */
const TYPE_OPTIONS = ['--default-non-nullable=false', '--root-types', '--root-types-no-schema-prefix']
/** The web's own types only: the client runs in Node.js, Workers, Deno, Bun and browsers. */
const COMPILER_OPTIONS = [
  ...[
    '--strict',
    '--noUncheckedIndexedAccess',
    '--exactOptionalPropertyTypes',
    '--verbatimModuleSyntax',
    '--declaration',
  ],
  ...['--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom,dom.iterable', '--skipLibCheck'],
]
/** What a program can import: the package, and its middleware. */
const ENTRIES = ['index.ts', 'express.ts', 'hono.ts']
/** Where the package is built. */
export const CLIENT = join(ROOT, 'dist/client')

/** Builds the client package: the files of client/ that it publishes, and client/src with what the OpenAPI document says. */
export async function buildClient(): Promise<void> {
  rmSync(CLIENT, { recursive: true, force: true })
  mkdirSync(CLIENT, { recursive: true })
  const {
    devDependencies: _,
    private: _private,
    ...manifest
  } = JSON.parse(readFileSync(join(SOURCE, 'package.json'), 'utf8')) as { files: string[] } & Record<string, unknown>
  writeFileSync(join(CLIENT, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  for (const name of [...manifest.files, 'README.md']) {
    if (name !== 'lib') cpSync(join(SOURCE, name), join(CLIENT, name), { recursive: true })
  }
  await compile(await openApiDocument(), join(CLIENT, 'lib'))
}

/** Compiles client/src with what is generated from the document. @throws what the compiler says */
async function compile(document: string, folder: string): Promise<void> {
  cpSync(join(SOURCE, 'src'), folder, { recursive: true })
  writeFileSync(join(folder, 'calls.ts'), callSource(document))
  await generateTypes(document, join(folder, 'schema.d.ts'))
  const tsc = join(SOURCE, 'node_modules/typescript/bin/tsc')
  await command(process.execPath, [
    tsc,
    ...COMPILER_OPTIONS,
    '--typeRoots',
    folder,
    ...ENTRIES.map((name) => join(folder, name)),
  ])
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.ts') && !name.endsWith('.d.ts')) rmSync(join(folder, name))
  }
}

/** Writes the types of an OpenAPI document with openapi-typescript, as any user of the API can. */
export async function generateTypes(document: string, target: string): Promise<void> {
  const source = `${target}.json`
  writeFileSync(source, document)
  // It brings a TypeScript of its own, because the one that checks this project has no API that it can use.
  const cli = join(SOURCE, 'node_modules/openapi-typescript/bin/cli.js')
  await command(process.execPath, [cli, source, '--output', target, ...TYPE_OPTIONS])
  rmSync(source)
}
