import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildClient, CLIENT, generateTypes } from '../../scripts/lib/build-client.ts'
import { command } from '../../scripts/lib/command.ts'
import { ROOT } from '../../scripts/lib/paths.ts'
import { findCode } from '../../scripts/lib/server-log.ts'
import { localSession } from '../../scripts/lib/sign-in.ts'
import { everyCall } from './every-call.ts'
import { tryEveryCall } from './try-every-call.ts'
import { codeOf, GUIDE_PROGRAMS, runGuide, writeGuides } from './try-guide.ts'

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
 * Builds the client, packs it, and installs it into an empty project. Checks the types of its programs there, of its tests, of the
 * code in its README, and of a program that makes every call, and of the guides' programs. Runs the example, the tests, the programs of
 * docs/guides/integrate.md and the README, and every call against a running server.
 *
 * @returns the last line that the example printed, and how many tests passed
 */
export async function tryPackedClient(url: string, folder: string): Promise<string> {
  await buildClient()
  emptyProject(folder)
  const packed = (await command('npm', ['pack', CLIENT, '--silent', '--pack-destination', folder])).trim()
  // Its only dependency comes from this checkout, so that the test needs no network.
  const parts = ['openapi-fetch', 'openapi-typescript-helpers'].map((name) => join(ROOT, 'node_modules', name))
  const quiet = ['--no-audit', '--no-fund', '--offline', '--install-links']
  await command('npm', ['install', join(folder, packed), ...parts, ...quiet], { cwd: folder })
  const installed = join(folder, 'node_modules/platform-api-client')
  for (const name of ['example.ts', 'mirror.ts', 'mirror', 'catalog.ts', 'catalog']) {
    cpSync(join(installed, name), join(folder, name), { recursive: true })
  }
  cpSync(join(ROOT, 'client/test'), folder, { recursive: true })
  const tests = readdirSync(join(ROOT, 'client/test'))
  const readme = codeOf(readFileSync(join(installed, 'README.md'), 'utf8'), 'ts')
  // Two blocks import it, so that each can be copied alone. One file may import it only once.
  writeFileSync(join(folder, 'readme.ts'), readme.replace('{ PlatformError, verifyWebhook }', '{ verifyWebhook }'))
  writeGuides(folder)
  link(folder, 'standardwebhooks', 'express', 'hono')
  const done = await checkAndRun(url, folder, {
    from: 'platform-api-client',
    named: true,
    more: [...tests, 'readme.ts', ...GUIDE_PROGRAMS, 'mirror.ts', 'catalog.ts'],
  })
  return `${done}\n  ${await runTests(url, folder)}\n  ${await runGuide(url, folder)}\n  ${await tryEveryCall(url, folder)}`
}

/** Runs the client's own tests. @throws with what they print, if one fails */
async function runTests(url: string, folder: string): Promise<string> {
  const { token } = await localSession(url)
  const env = { URL: url, TOKEN: token }
  const said = await command(process.execPath, ['--test', '--test-reporter=tap'], { cwd: folder, env })
  const [, passed = '0'] = /^# pass (\d+)$/m.exec(said) ?? []
  if (Number(passed) === 0) throw new Error(`no test was run:\n${said}`)
  return `${passed} tests of the client passed`
}

/** The same program with openapi-typescript and openapi-fetch alone, as a user of the API has them. */
export async function tryGeneratedTypes(url: string, folder: string): Promise<string> {
  emptyProject(folder)
  await generateTypes(await (await fetch(`${url}/openapi.json`)).text(), join(folder, 'schema.d.ts'))
  link(folder, 'openapi-fetch', 'openapi-typescript-helpers')
  writeFileSync(join(folder, 'direct.ts'), DIRECT)
  const example = readFileSync(join(ROOT, 'client/example.ts'), 'utf8')
  writeFileSync(join(folder, 'example.ts'), example.replace("'platform-api-client'", "'./direct.ts'"))
  return checkAndRun(url, folder, { from: './direct.ts', named: false, more: [] })
}

function emptyProject(folder: string): void {
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }))
}

function link(folder: string, ...packages: string[]): void {
  for (const name of packages) symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
}

/** `from`: what is imported. `named`: whether it has a method for each operation. `more`: files whose types are checked too. */
type Client = { from: string; named: boolean; more: string[] }

async function checkAndRun(url: string, folder: string, { from, named, more }: Client): Promise<string> {
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true }) // npm removes what it did not install
  link(folder, '@types/node', 'undici-types', 'pg', '@types/pg', '@types/express')
  const strict = ['--strict', '--noEmit', '--target', 'es2024', '--module', 'nodenext', '--types', 'node']
  const program = everyCall(await (await fetch(`${url}/openapi.json`)).text(), from, named)
  writeFileSync(join(folder, 'every-call.ts'), program)
  const files = ['example.ts', 'every-call.ts', ...more, '--allowImportingTsExtensions']
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
