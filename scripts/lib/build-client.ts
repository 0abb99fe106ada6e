import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { command } from './command.ts'
import { openApiDocument } from './openapi-document.ts'
import { ROOT } from './paths.ts'

const SOURCE = join(ROOT, 'client')
/**
 * A body may leave out a field that has a default. Without the first option, the types would require it. The other two name the
 * schemas as the document does.
 */
const TYPE_OPTIONS = ['--default-non-nullable=false', '--root-types', '--root-types-no-schema-prefix']
/** Where the package is built. */
export const CLIENT = join(ROOT, 'dist/client')

/** Builds the client package: the files of client/ that it publishes, and types generated from the OpenAPI document. */
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
    if (name !== 'schema.d.ts') cpSync(join(SOURCE, name), join(CLIENT, name))
  }
  await generateTypes(await openApiDocument(), join(CLIENT, 'schema.d.ts'))
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
