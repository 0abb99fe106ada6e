/*
 * npm run try:clients: does what docs/guides/other-languages.md says, against a server of its own: generates the clients, installs them, and
 * runs the page's programs, which must print what the page says. Every call and every type must compile, and every type's example be read.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readFlags } from '../../scripts/lib/flags.ts'
import type { Server } from './server.ts'
import { temporaryState } from './temporary-state.ts'

readFlags({
  usage: 'npm run try:clients',
  about: 'Generates the clients of docs/guides/other-languages.md and runs its programs against a server of its own.',
  flags: {},
})
// This must run before the modules below are imported, because they read LOCAL_STATE_DIR.
const { folder, remove } = temporaryState('clients')
const { command } = await import('../../scripts/lib/command.ts')
const { ROOT } = await import('../../scripts/lib/paths.ts')
const { goModules, MODULES, proxyOf } = await import('./clients/go-modules.ts')
const { sampleProject } = await import('./clients/project.ts')
const { typesInGo, TYPES_IN_PYTHON } = await import('./clients/types.ts')
const { freePort, killServer, startServer } = await import('./server.ts')
const { blocksOf } = await import('./try-guide.ts')

/** Debian's, whose packages are beside it. */
const PYTHON = '/usr/bin/python3'

const began = Date.now()
const [intro = '', python = '', go = ''] = readFileSync(join(ROOT, 'docs/guides/other-languages.md'), 'utf8').split(
  /^## (?:Python|Go)$/m,
)
let server: Server | null = null
try {
  await haveTools()
  mkdirSync(join(folder, 'bin'))
  symlinkSync(PYTHON, join(folder, 'bin/python3'))
  await goModules(folder)
  const port = await freePort()
  console.log('Starting a server …')
  server = await startServer(port)
  const run = shell({ ...(await sampleProject(`http://localhost:${port}`)), ...withoutNetwork() })
  await run(blocksOf(intro, 'bash').join(''))
  await inPython(run)
  await inGo(run)
} catch (error) {
  console.log(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  killServer(server)
  remove()
}
console.log(`It took ${((Date.now() - began) / 1000).toFixed(0)} s.`)
process.exit()

type Run = (script: string) => Promise<string>

async function inPython(run: Run): Promise<void> {
  await run(blocksOf(python, 'bash').join(''))
  write('check.py', blocksOf(python, 'python').join(''))
  asOnPage('Python', await run('.venv/bin/python check.py'))
  write('every_type.py', TYPES_IN_PYTHON)
  console.log(`✓ Python: ${(await run('.venv/bin/python every_type.py')).trim()}`)
}

async function inGo(run: Run): Promise<void> {
  const [generate = '', ...others] = blocksOf(go, 'bash')
  await run(generate)
  write('main.go', blocksOf(go, 'go').join(''))
  asOnPage('Go', await run(others.join('')))
  mkdirSync(join(folder, 'types'))
  write('types/main.go', typesInGo(readFileSync(join(folder, 'openapi-3.0.json'), 'utf8')))
  console.log(`✓ Go: ${(await run('go vet github.com/acme/platform && go run ./types')).trim()}`)
}

/** @throws with what to install, if something is missing: nothing is left out silently. */
async function haveTools(): Promise<void> {
  const modules = MODULES.map(({ path }) => `/usr/share/gocode/src/${path}`)
  const imports = 'import setuptools, wheel, pip, ensurepip, certifi, dateutil, six, urllib3'
  const all = `java -version && go version && curl --version && ls -d ${modules.join(' ')} && ${PYTHON} -c '${imports}'`
  await command('sh', ['-c', all]).catch((error: Error) => {
    const install = 'apt-get install --no-install-recommends $(cat test/system/clients/packages.txt)'
    throw new Error(`${error.message}\nSomething is missing. Install it: ${install}`)
  })
}

/** pip and Go take what they need from Debian's packages: the test needs no other registry than npm's. */
function withoutNetwork(): Record<string, string> {
  return {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    PIP_CONFIG_FILE: '/dev/null',
    PIP_NO_INDEX: '1',
    PIP_NO_BUILD_ISOLATION: '0', // pip reads it the other way round
    GOPROXY: proxyOf(folder),
    GOSUMDB: 'off',
    GOFLAGS: '-modcacherw',
    GOPATH: join(folder, 'go-path'),
    GOMODCACHE: join(folder, 'go-path/mod'),
  }
}

function shell(env: Record<string, string>): Run {
  return (script) => command('bash', ['-euc', script], { cwd: folder, env })
}

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text)
}

function asOnPage(language: string, said: string): void {
  const expected = blocksOf(intro, 'text').join('')
  if (!said.endsWith(expected))
    throw new Error(`The page says\n${expected}\nand its program in ${language} said\n${said}`)
  console.log(`✓ ${language}: the page's program printed its ${expected.trim().split('\n').length} lines`)
}
