import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildClient, CLIENT, generateTypes } from '../../scripts/lib/build-client.ts'
import { command } from '../../scripts/lib/command.ts'
import { ROOT } from '../../scripts/lib/paths.ts'
import { findCode } from '../../scripts/lib/server-log.ts'
import { everyCall } from './every-call.ts'

const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')
/** What the example prints when all of it has worked. */
const DONE = /^.*Done: 5 events found, 5 counted, evt_\w+ replayed\.$/m

/** What a client has to state by itself if it takes openapi-fetch and the generated types alone. */
const DIRECT = `import createFetchClient from 'openapi-fetch'
import type { paths } from './schema.d.ts'
export type * from './schema.d.ts'
type Options = { baseUrl: string; token?: string; projectId?: string }
export function createClient({ baseUrl, token, projectId }: Options) {
  const headers = { Authorization: token && \`Bearer \${token}\`, 'X-Project-Id': projectId }
  return createFetchClient<paths>({ baseUrl, headers })
}
`

/**
 * Builds the client, packs it, installs it into an empty project, checks the types of its example there, and those of a
 * program that makes every call, and runs the example against a running server.
 *
 * @returns the last line that the example printed
 */
export async function tryPackedClient(url: string, folder: string): Promise<string> {
  await buildClient()
  emptyProject(folder)
  const packed = (await command('npm', ['pack', CLIENT, '--silent', '--pack-destination', folder])).trim()
  // Its only dependency comes from this checkout, so that the test needs no network.
  const parts = ['openapi-fetch', 'openapi-typescript-helpers'].map((name) => join(ROOT, 'node_modules', name))
  const quiet = ['--no-audit', '--no-fund', '--offline', '--install-links']
  await command('npm', ['install', join(folder, packed), ...parts, ...quiet], { cwd: folder })
  cpSync(join(folder, 'node_modules/platform-api-client/example.ts'), join(folder, 'example.ts'))
  return checkAndRun(url, folder, 'platform-api-client')
}

/** The same program with openapi-typescript and openapi-fetch alone, as a user of the API has them. */
export async function tryGeneratedTypes(url: string, folder: string): Promise<string> {
  emptyProject(folder)
  await generateTypes(await (await fetch(`${url}/openapi.json`)).text(), join(folder, 'schema.d.ts'))
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  }
  writeFileSync(join(folder, 'direct.ts'), DIRECT)
  const example = readFileSync(join(ROOT, 'client/example.ts'), 'utf8')
  writeFileSync(join(folder, 'example.ts'), example.replace("'platform-api-client'", "'./direct.ts'"))
  return checkAndRun(url, folder, './direct.ts')
}

function emptyProject(folder: string): void {
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }))
}

async function checkAndRun(url: string, folder: string, client: string): Promise<string> {
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true }) // npm removes what it did not install
  for (const name of ['@types/node', 'undici-types']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  }
  const strict = ['--strict', '--noEmit', '--target', 'es2023', '--module', 'nodenext', '--types', 'node']
  const program = everyCall(await (await fetch(`${url}/openapi.json`)).text(), client)
  writeFileSync(join(folder, 'every-call.ts'), program)
  const files = ['example.ts', 'every-call.ts', '--allowImportingTsExtensions']
  await command(process.execPath, [TSC, ...strict, ...files], { cwd: folder })
  const said = await command(process.execPath, ['example.ts', url, 'client@example.com'], { cwd: folder, answer })
  const [done] = DONE.exec(said) ?? []
  if (done === undefined) throw new Error(`the example did not finish:\n${said}`)
  return done.replace(/^.*Done/, 'Done')
}

/** The sign-in code that the example asks for, once the server has printed it. */
function answer(said: string): string | null {
  const challenge = /Code for (chl_\w+)/.exec(said)?.[1]
  return challenge === undefined ? null : findCode(challenge)
}
