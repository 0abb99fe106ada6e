/*
 * npm run smoke [-- --json FILE]: starts the real server with npm start, on a free port and with a state of its own,
 * then uses, stops, kills and restarts it. At the same time, it tries a fresh copy of the project and deploys. Each line of
 * output is a test.
 */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import type { Server } from './server.ts'
import { temporaryState } from './temporary-state.ts'

/** What the demo prints, and what is wrong if it does not. */
const TOLD_BY_DEMO: [RegExp, string][] = [
  [/✓ the events have linked Stripe’s customer cus_\w+ to ext:user_4711/, 'no customer was linked to the consumer'],
  [
    /✓ ext:user_4711 may use 15 seats, .*✓ ext:user_4711 may use no seats any more: expired/s,
    'the subscription and its cancellation did not decide the seats',
  ],
  [/✓ ext:user_7 may use 5 seats, without a single event/, 'the import of an account led to nothing'],
  [/✓ after the device is revoked, its token is no longer valid/, 'no device was revoked'],
  [
    /✓ ext:user_4711 may use exports, .* no more: refunded.*✓ the explanation names evt_.* by refund re_/s,
    'the payment and its refund did not decide the exports',
  ],
]

const { values: flags } = parseArgs({ options: { json: { type: 'string' } } })
// This must run before the modules below are imported, because they read LOCAL_STATE_DIR.
const { folder, remove } = temporaryState('smoke')
const { ROOT, readLocal, STATE_DIR } = await import('../../scripts/lib/paths.ts')
const { backUpAndRestore } = await import('./back-up.ts')
const { crowd } = await import('./crowd.ts')
const { Account } = await import('./deploy/account.ts')
const { walks } = await import('./deploy/walks.ts')
const { walksOfOperators } = await import('./deploy/walks-of-operators.ts')
const { walksOfStores } = await import('./deploy/walks-of-stores.ts')
const { copyOf } = await import('./fresh-copy.ts')
const { awaitFinal, deliver, isReceipt } = await import('../../scripts/lib/deliver.ts')
const { GENERATED_VENDORS, writeEvents } = await import('../../scripts/lib/generated.ts')
const { localInboxes } = await import('../../scripts/lib/inbox.ts')
const { checkHelp } = await import('./help.ts')
const { lintOpenApi } = await import('./lint-openapi.ts')
const { execute } = await import('../../scripts/lib/d1.ts')
const { ensureDevVars } = await import('../../scripts/lib/dev-vars.ts')
const { isAlive } = await import('../../scripts/lib/running.ts')
const { freePort, killServer, portFree, startServer } = await import('./server.ts')
const { sleep } = await import('../../scripts/lib/terminal.ts')
const { tryCatalog } = await import('./try-catalog.ts')
const { tryGeneratedTypes, tryPackedClient } = await import('./try-client.ts')
const { tryIdp } = await import('./try-idp.ts')
const { tryListen } = await import('./try-listen.ts')
const { tryMcp } = await import('./try-mcp.ts')
const { tryMirror } = await import('./try-mirror.ts')
const { hasPrometheus, tryMonitoring } = await import('./try-monitoring.ts')
const { tryPages } = await import('./try-pages.ts')
const { tryPrograms } = await import('./try-programs.ts')
const { tryVendorCalls } = await import('./try-vendor-calls.ts')

const SECOND = 1000
const port = await freePort()
const url = `http://localhost:${port}`
let server: Server | null = null
let passed = 0
const failed: string[] = []

type Ended = { code: number | null; said: string }

try {
  // Neither knows of the other, and the first one mostly waits: for the lease of the events that a crash left open.
  await Promise.all([tryServer(), tryCopies()])
} finally {
  killServer(server)
  remove()
}
if (flags.json) writeFileSync(flags.json, JSON.stringify({ passed, failed: failed.length }))
console.log(`\nsmoke: ${passed} passed, ${failed.length} failed`)
process.exit(failed.length > 0 ? 1 : 0)

/** The server of this checkout, in one story. */
async function tryServer(): Promise<void> {
  await tryStart()
  await tryCommands()
  await tryEnds()
}

async function tryStart(): Promise<void> {
  await test('npm start serves on the given port', async () => {
    server = await startServer(port)
  })
  await test('only the owner can read the local secrets', async () => {
    const mode = statSync(join(ROOT, '.dev.vars')).mode & 0o777
    if (mode !== 0o600) throw new Error(`.dev.vars has mode ${mode.toString(8)}`)
  })
  await test('no encryption key is made beside one of another number', async () => {
    const path = join(folder, 'second-key.dev.vars')
    writeFileSync(path, 'ENCRYPTION_KEY_2=x\n')
    const made = ensureDevVars(path)
    if (made.join() !== 'CODE_PEPPER,SIGN_UP,SIGN_IN_DELIVERY,METRICS_TOKEN') throw new Error(`it made ${made.join()}`)
  })
  await test('a second npm start in the same checkout is refused', async () => {
    mustFail(await npm(['start', '--', '--port', String(await freePort())]), 'is already running')
  })
  await test('npm start on a port in use is refused', async () => {
    const other = { LOCAL_STATE_DIR: join(folder, 'other') }
    mustFail(await npm(['start', '--', '--port', String(port)], other), 'is in use')
  })
}

async function tryCommands(): Promise<void> {
  await test("the OpenAPI document passes Redocly's and Spectral's rules", async () => {
    const problems = await lintOpenApi(url)
    if (problems.length > 0) throw new Error(problems.join('\n'))
  })
  await test('npm run client: packed, installed in an empty project, checked by tsc --strict, and run', async () => {
    console.log(`  ${await tryPackedClient(url, join(folder, 'client'))}`)
  })
  await test('openapi-typescript and openapi-fetch alone do the same, with X-Project-Id given once', async () => {
    console.log(`  ${await tryGeneratedTypes(url, join(folder, 'generated'))}`)
  })
  await test('--help of every script says how to run it and has the options that pages use, and nothing else is done', async () => {
    const scripts = npmScripts()
    const ours = Object.keys(scripts).filter((name) => scripts[name]?.includes('scripts/run.js'))
    if (ours.length < 30) throw new Error(`only ${ours.length} scripts`)
    for (const script of ours) {
      checkHelp(script, mustPass(await asNpm(scripts[script] ?? '', '--help')))
    }
  })
  await test('an unknown option is refused', async () => {
    const names = 'start demo send listen mirror bootstrap deploy stores backup restore export'.split(' ')
    for (const name of names) mustFail(await asNpm(npmScripts()[name] ?? '', '--nonsense'), 'Usage: npm ')
  })
  await tryBootstrap()
  for (const vendor of GENERATED_VENDORS) {
    await test(`npm run send: ${vendor}`, async () => {
      writeEvents(join(folder, vendor), vendor, 4)
      if (!mustPass(await send(vendor)).includes('local@example.com'))
        throw new Error('it did not say which user can see the events')
    })
  }
  await test('npm run listen posts each change, signed and in order, also when it was killed', async () => {
    console.log(`  ${await tryListen(url)}`)
  })
  await test('npm run mirror equals the lists after it was killed and its position expired, and is never empty', async () => {
    console.log(`  ${await tryMirror(url, folder)}`)
  })
  await test('npm run catalog pulls, shows and pushes a catalog; a conflict and a loss are refused', async () => {
    console.log(`  ${await tryCatalog(url, folder)}`)
  })
  if (await hasPrometheus()) {
    await test('Prometheus takes the alert rules and answers the queries of the dashboard', async () => {
      console.log(`  ${await tryMonitoring(url, join(folder, 'monitoring'))}`)
    })
  } else console.log('Prometheus is not installed, so nothing loads the alert rules and the dashboard.')
  await test('the commands and programs of the README and the guides do what the pages say', async () => {
    console.log(`  ${await tryPages(url, join(folder, 'pages'), join(folder, 'client'))}`)
    console.log(`  ${await tryPrograms(url, join(folder, 'client'))}`)
    console.log(`  ${await tryVendorCalls(join(folder, 'vendor-calls'))}`)
  })
  await test("/mcp: another maker's client calls every tool", async () => console.log(`  ${await tryMcp(url)}`))
  await test('npm run backup beside the server, restore into another database, export of a project', async () => {
    const [inbox] = await localInboxes(url, 'stripe', 1)
    console.log(`  ${await backUpAndRestore(npm, folder, inbox?.project ?? '')}`)
  })
}

async function tryBootstrap(): Promise<void> {
  await test('npm run bootstrap creates a user once', async () => {
    const owner = ['run', 'bootstrap', '--', '--owner', "O'Neil@Example.com"]
    if (!mustPass(await npm(owner)).includes("o'neil@example.com is now a user")) throw new Error('no new user')
    if (!mustPass(await npm(owner)).includes('already')) throw new Error('a second user')
  })
  await test('npm run bootstrap makes a project and a key that works, once, and leaves no session', async () => {
    const first = ['run', 'bootstrap', '--', '--owner', 'first@example.com', '--project', 'First', '--key', 'CI']
    mustFail(await npm([...first, '--preset', 'everything']), '"everything" is not a preset')
    const said = mustPass(await npm([...first, '--preset', 'billing']))
    const [secret, id] = [/svc_v1_[0-9a-f]{96}/.exec(said)?.[0] ?? '', /prj_\w+/.exec(said)?.[0] ?? '']
    const headers = { Authorization: `Bearer ${secret}`, 'X-Project-Id': id }
    const self = await fetch(`${url}/platform/v1/api-keys/self`, { headers })
    const { key } = (await self.json()) as { key: { name: string; scopes: string[] } }
    if (key.name !== 'CI' || String(key.scopes) !== 'billing:read')
      throw new Error(`not that key: ${JSON.stringify(key)}`)
    const again = mustPass(await npm([...first, '--preset', 'billing']))
    if (!again.includes(`First is already a project: ${id}`) || /svc_v1_/.test(again)) throw new Error(again)
    const sql = "SELECT count(*) AS n FROM sessions JOIN users ON users.id = user_id WHERE email = 'first@example.com'"
    const [[counted] = []] = await execute('local', sql)
    if (counted?.n !== 0) throw new Error(`${counted?.n} sessions are left`)
  })
  await test('npm run bootstrap waits while the database is locked', async () => {
    const locked = lockDatabases()
    rmSync(join(STATE_DIR, 'migrated')) // so that it looks for migrations first
    const waiting = npm(['run', 'bootstrap', '--', '--owner', 'waiting@example.com'])
    const writing = execute('local', 'UPDATE users SET email = email')
    const first = await Promise.race([waiting, writing, sleep(5 * SECOND)]).finally(() => {
      for (const database of locked) database.close()
    })
    if (first) throw new Error(`it did not wait: ${JSON.stringify(first)}`)
    mustPass(await waiting)
    await writing
  })
}

/** Callers that hang up, and a server that is ended in each way, and started again. */
async function tryEnds(): Promise<void> {
  await test('concurrent callers get their own answers even if others hang up', async () => {
    const [inbox] = await localInboxes(url, 'stripe', 1)
    if (!inbox) throw new Error('connection not found')
    const { answers, slowest } = await crowd(inbox)
    console.log(`  ${answers} answers, the slowest after ${slowest.toFixed(0)} ms`)
  })
  await test('requests that are aborted or cut off in a shared trip to the database take no other along', async () => {
    if (!mustPass(await npm(['run', 'aborts'])).includes('callers got their own event')) throw new Error('no result')
  })
  await test('SIGTERM stops everything', async () => stopped('SIGTERM', true))
  await test('a restart keeps the data: the same folder is recognized', async () => {
    server = await startServer(port, {}, ['--idp'])
    if (!mustPass(await send('stripe')).includes('4 were duplicates')) throw new Error('the events were not recognized')
  })
  await test('npm start -- --idp: customers sign in at the local identity provider', async () => {
    console.log(`  ${await tryIdp(url, join(folder, 'client'))}`)
  })
  await test('SIGKILL of the script leaves no process and no open port behind', async () => stopped('SIGKILL', false))
  await test('events that were open when everything was killed are finished after a restart', async () => {
    server = await startServer(port)
    await finishesAfterCrash()
  })
  await test('Ctrl-C stops everything', async () => stopped('SIGINT', true))
}

/** A fresh copy of this checkout, and deploys of the copy. */
async function tryCopies(): Promise<void> {
  const copy = copyOf(join(folder, 'copy'))
  const served = (ms: number) => console.log(`  the edit was served after ${(ms / SECOND).toFixed(1)} s`)
  await test('npx wrangler dev in a fresh copy: a sign-in code is printed, and an edit is served', async () => {
    served(await copy.serves(['npx', 'wrangler', 'dev']))
  })
  const account = new Account()
  // The copy has one store so far.
  for (const [name, walk] of walks(copy.folder, account)) await test(`npm run deploy: ${name}`, walk)
  await test('npm run stores -- add adds a store to the copy, and close closes the first', async () => {
    mustPass(await copy.run('npm', ['run', 'stores', '--', 'add']))
    mustPass(await copy.run('npm', ['run', 'stores', '--', 'close', '0']))
  })
  await test('npm start in the copy: a sign-in code is printed, npm run demo succeeds in the new store, and an edit is served', async () => {
    const demo = async (url: string) => {
      const said = mustPass(await copy.run('npm', ['run', 'demo']))
      if (!said.includes(`${url}/console/p/prj_`)) throw new Error('it printed no link to the console')
      if (!/\/console\/p\/prj_\w{26}1\b/.test(said)) throw new Error(`the project is not in store 1:\n${said}`)
      for (const [line, otherwise] of TOLD_BY_DEMO) if (!line.test(said)) throw new Error(`${otherwise}:\n${said}`)
    }
    served(await copy.serves(['npm', 'start', '--'], demo))
  })
  await test('npm run stores lists the stores of the copy, and their projects', async () => {
    const table = mustPass(await copy.run('npm', ['run', 'stores']))
    if (!/^1 +open .* 1 +none /m.test(table)) throw new Error(`store 1 is not open with one project:\n${table}`)
    const projects = mustPass(await copy.run('npm', ['run', 'stores', '--', '--projects']))
    if (!/^1 +prj_\w{26}1 .* [\d.]+ MB +[1-9]/m.test(projects)) throw new Error(`it lists no events:\n${projects}`)
  })
  await test('npx vitest run in a fresh copy', async () => {
    mustPass(await copy.run('npx', ['vitest', 'run', 'test/client.test.ts']))
  })
  await test('a Node.js that is too old is told what to do', async () => {
    mustFail(
      await copy.run(process.execPath, ['--no-strip-types', 'scripts/run.js', 'scripts/start.ts']),
      'npm rebuild node',
    )
  })
  await test('npm run deploy -- --dry-run shows every command', async () => {
    const { code, said } = await npm(['run', 'deploy', '--', '--dry-run'])
    if (code !== 1) throw new Error(`it ended with ${code}, although a real run would stop`)
    for (const command of [
      'queues create',
      'd1 create',
      'migrations apply',
      '--secrets-file',
      'PUBLIC_ORIGIN is missing',
    ]) {
      if (!said.includes(command)) throw new Error(`it did not print ${command}`)
    }
    const origin = 'https://platform-api.example.workers.dev'
    const from = ['--email-from', 'sign-in@example.org']
    const stated = mustPass(await npm(['run', 'deploy', '--', '--dry-run', '--public-origin', `${origin}/`, ...from]))
    if (!stated.includes(`PUBLIC_ORIGIN ${origin}\n`)) throw new Error('it did not write the public origin')
    const domain = ['--public-origin', 'https://api.example.org']
    const lost = await npm(['run', 'deploy', '--', '--dry-run', ...domain, ...from])
    mustFail(lost, 'A real run would stop here. The Worker would have no address')
  })
  for (const [name, walk] of walksOfStores(copy.folder, account)) await test(`npm run deploy: ${name}`, walk)
  for (const [name, walk] of walksOfOperators(copy.folder, account)) await test(name, walk)
}

async function test(name: string, body: () => Promise<unknown>): Promise<void> {
  const startedAt = Date.now()
  try {
    await body()
    passed += 1
    console.log(`✓ ${name} (${((Date.now() - startedAt) / SECOND).toFixed(1)} s)`)
  } catch (error) {
    failed.push(name)
    console.log(`✗ ${name}\n${error instanceof Error ? error.message : String(error)}`)
  }
}

/**
 * Sends twenty events and kills the whole server before the Queue has delivered them to the consumer. On a slow machine, it may have:
 * then it is tried again.
 */
async function finishesAfterCrash(run = 1): Promise<void> {
  const [inbox] = await localInboxes(url, 'stripe', 1)
  if (!inbox) throw new Error('connection not found')
  const event = { object: 'event', type: 'customer.updated', data: { object: {} } }
  const bodies = Array.from({ length: 20 }, (_, n) => JSON.stringify({ ...event, id: `evt_crash${run}_${n}` }))
  const answers = await Promise.all(bodies.map((body, n) => deliver(inbox, String(n), Buffer.from(body))))
  const ids = answers.flatMap((answer) => (isReceipt(answer) ? answer.body.event_ids : []))
  if (ids.length !== bodies.length) throw new Error(`only ${ids.length} of ${bodies.length} were accepted`)
  killServer(server)
  await portFree(port)
  server = await startServer(port)
  const before = await awaitFinal(inbox, ids, 0)
  const open = [...before.values()].filter(({ status }) => status === 'received' || status === 'processing').length
  // An event that a worker had claimed is taken over by a sweep after the worker's lease of one minute has expired.
  const after = await awaitFinal(inbox, ids, 240 * SECOND)
  const done = [...after.values()].filter(({ status }) => status === 'processed' || status === 'ignored').length
  console.log(`  ${open} of ${ids.length} were open after the crash, ${ids.length - done} at the end`)
  if (done !== ids.length) throw new Error(`${ids.length - done} events were not finished`)
  if (open > 0) return
  if (run === 3) throw new Error('no event was open when the server was killed, so nothing was tested')
  await finishesAfterCrash(run + 1)
}

/** Ends the server with a signal, then waits until its port is free and all its processes are gone. */
async function stopped(signal: NodeJS.Signals, toAll: boolean): Promise<void> {
  const running = readLocal<{ pid: number; group: number }>('server.json')
  const child = server?.process
  if (!running || !child?.pid) throw new Error('no server is running')
  // Ctrl-C in a terminal reaches npm and its script; the processes that they started are in a group of their own.
  if (toAll) process.kill(signal === 'SIGINT' ? -child.pid : child.pid, signal)
  else process.kill(running.pid, signal)
  await portFree(port)
  for (const until = Date.now() + 60 * SECOND; isAlive(-running.group) || isAlive(running.pid); await sleep(100)) {
    if (Date.now() > until) throw new Error('some of its processes are still alive')
  }
  server = null
}

/** The databases of the server, each with a transaction that is writing. */
function lockDatabases(): DatabaseSync[] {
  const files = readdirSync(STATE_DIR, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\bd1\b.*\.sqlite$/.test(file),
  )
  if (files.length === 0) throw new Error(`no database in ${STATE_DIR}`)
  return files.map((file) => {
    const database = new DatabaseSync(join(STATE_DIR, file))
    database.exec('BEGIN IMMEDIATE')
    return database
  })
}

function send(vendor: string): Promise<Ended> {
  return npm(['run', 'send', '--', join(folder, vendor), '--vendor', vendor])
}

/** The command of each script of package.json. */
function npmScripts(): Record<string, string> {
  return (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }).scripts
}

/** Runs a script's command as npm does, without npm: that takes longer than what is asked of so many scripts here. */
function asNpm(script: string, flag: string): Promise<Ended> {
  const PATH = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`
  return ended('sh', ['-c', `${script} ${flag}`], { PATH })
}

function npm(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return ended('npm', args, env)
}

function ended(command: string, args: readonly string[], env: Record<string, string>): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, said }))
  })
}

function mustPass({ code, said }: Ended): string {
  if (code !== 0) throw new Error(`exit code ${code}:\n${said}`)
  return said
}

function mustFail({ code, said }: Ended, saying: string): void {
  if (code !== 1 || !said.includes(saying)) throw new Error(`exit code ${code}:\n${said}`)
}
