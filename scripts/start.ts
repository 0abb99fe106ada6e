/* npm start: the whole service on this machine, on an embedded D1, KV and Queue. */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { migrate } from './lib/d1.ts'
import { ensureDevVars } from './lib/dev-vars.ts'
import { readFlags } from './lib/flags.ts'
import { localConfig } from './lib/local-config.ts'
import { LOCAL_DIR, ROOT, STATE_DIR, writeLocal } from './lib/paths.ts'
import { PORT, type Running, readRunning } from './lib/running.ts'
import { isNoise, redeemLine, rememberCode, SIGN_IN_LINK, startSignInLog } from './lib/server-log.ts'
import { fail, run, sleep } from './lib/terminal.ts'
import { welcome } from './lib/welcome.ts'
import { WRANGLER, WRANGLER_ENV } from './lib/wrangler.ts'

const MINUTE = 60_000
const READY_WITHIN = 2 * MINUTE
const STOP_WITHIN = 5000

await run(async () => {
  const port = readPort()
  const url = `http://localhost:${port}`
  await refuseSecond()
  if (await answers(port)) {
    fail(`Port ${port} is taken by another program. Start on another one: npm start -- --port ${port + 1}`)
  }
  const made = ensureDevVars()
  if (made.length > 0) console.log(`Made local secrets in .dev.vars: ${made.join(', ')}`)
  console.log('Applying migrations …')
  await migrate('local')
  console.log('Starting …')
  serve(port, url)
})

function readPort(): number {
  const { values } = readFlags({
    usage: 'npm start [-- --port N]',
    about: 'Serves the API and its console on this machine, until Ctrl-C. Data stay in .wrangler/state.',
    flags: { port: { type: 'string', takes: 'N', help: 'the port to serve on', default: String(PORT) } },
    notes:
      'In the environment, LOCAL_RATE_LIMIT=N sets every rate limit to N a minute; LOCAL_STATE_DIR=FOLDER keeps the data\nelsewhere, for a second server of this checkout.',
  })
  const port = Number(values.port)
  if (!Number.isInteger(port) || port < 1 || port > 65535)
    fail(`--port takes a number from 1 to 65535, not ${values.port}`)
  return port
}

/** Two servers on one database would get in each other's way. */
async function refuseSecond(): Promise<void> {
  const running = readRunning()
  if (running && (await answers(Number(new URL(running.url).port)))) {
    fail(`This checkout's server is running already: ${running.url} (process ${running.pid}). Stop that one first.`)
  }
}

function serve(port: number, url: string): void {
  startSignInLog()
  const config = localConfig(process.env.LOCAL_RATE_LIMIT)
  const args = [
    'dev',
    ...config,
    '--port',
    String(port),
    '--ip',
    '127.0.0.1',
    '--inspector-port',
    '0',
    '--persist-to',
    STATE_DIR,
  ]
  const flags = ['--var', 'SIGN_IN_DELIVERY:log', '--var', 'SIGN_UP:open', '--show-interactive-dev-session=false']
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'lib/supervise.ts'), process.execPath, WRANGLER, ...args, ...flags],
    { cwd: ROOT, env: WRANGLER_ENV, stdio: ['pipe', 'pipe', 'pipe'], detached: true },
  )
  const group = child.pid
  if (group === undefined) fail('wrangler could not be started')
  writeLocal('server.json', { pid: process.pid, group, url } satisfies Running)

  let ready = false
  let stopping = false
  const early: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      if (!ready) early.push(line)
      else if (!isNoise(line)) show(line, url)
    })
  }

  const stop = () => {
    if (stopping) return killGroup(group)
    stopping = true
    console.log('\nStopping …')
    child.stdin.end()
    setTimeout(() => killGroup(group), STOP_WITHIN)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  stopWithNpm(stop)
  child.stdin.on('error', () => {}) // gone already: 'exit' tells
  child.on('exit', () => {
    killGroup(group)
    rmSync(join(LOCAL_DIR, 'server.json'), { force: true })
    if (stopping) process.exit(0)
    fail(ready ? 'The server ended by itself.' : `The server did not start:\n\n${early.slice(-40).join('\n')}`)
  })

  awaitReady(url).then(
    async () => {
      ready = true
      await triggerScheduled(url)
      setInterval(() => void triggerScheduled(url), MINUTE)
      console.log(welcome(url))
    },
    () => {
      console.error(early.slice(-40).join('\n'))
      console.error(`\nThe server did not answer at ${url}/healthz within ${READY_WITHIN / 1000} s.`)
      process.exitCode = 1
      stop()
    },
  )
}

/** Lets a line of the server through; a sign-in code stands out, and is kept for npm run demo and npm run send. */
function show(line: string, url: string): void {
  const link = SIGN_IN_LINK.exec(line)
  console.log(line)
  if (!link) return
  const [, challenge = '', code = ''] = link
  rememberCode(challenge, code)
  console.log(`  or paste:\n\n${redeemLine(url, challenge, code)}\n`)
}

async function awaitReady(url: string): Promise<void> {
  const until = Date.now() + READY_WITHIN
  while (Date.now() < until) {
    const answer = await fetch(`${url}/healthz`).catch(() => null)
    if (answer?.status === 200) return
    await sleep(250)
  }
  throw new Error('not ready')
}

/**
 * `wrangler dev` fires no crons and forgets the Queue's messages when it ends: without this, the events of a killed run
 * would wait for ever.
 */
async function triggerScheduled(url: string): Promise<void> {
  const answer = await fetch(`${url}/cdn-cgi/handler/scheduled`).catch((error) => error as Error)
  if (answer instanceof Error || !answer.ok) {
    console.error(`The scheduled handler failed: ${answer instanceof Error ? answer.message : await answer.text()}`)
  }
}

/** npm killed with SIGKILL tells its script nothing: the script's parent is then another process. */
function stopWithNpm(stop: () => void): void {
  if (process.env.npm_lifecycle_event !== 'start') return
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) stop()
  }, 1000).unref()
}

/** Whether something listens on a port of this machine. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: 'localhost', autoSelectFamily: true })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // all of it has ended
  }
}
