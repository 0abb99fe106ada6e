/* npm start: runs the whole service on this machine, on an embedded D1, KV and Queue. */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { readFlags } from './lib/flags.ts'
import { asked, localConfig } from './lib/local-config.ts'
import { LOCAL_DIR, ROOT, STATE_DIR, STATE_ROOT, writeLocal } from './lib/paths.ts'
import { prepareLocal } from './lib/prepare.ts'
import { PORT, type Running, readRunning } from './lib/running.ts'
import { CONFIRMATION, isNoise, redeemLine, rememberCode, SIGN_IN_LINK, startSignInLog } from './lib/server-log.ts'
import { fail, run, sleep } from './lib/terminal.ts'
import { welcome } from './lib/welcome.ts'
import { WRANGLER, WRANGLER_ENV } from './lib/wrangler.ts'

const MINUTE = 60_000
const READY_WITHIN = 5 * MINUTE
const STOP_WITHIN = 5000
const WRONG_KEY = `The encryption keys in .dev.vars do not open the signing secrets in ${STATE_DIR}.
Restore the .dev.vars that sealed them, or delete that folder to start with an empty database.`

await run(async () => {
  const { port, idp } = readAsked()
  const url = `http://localhost:${port}`
  await refuseSecond()
  if (await answers(port)) {
    fail(`Port ${port} is in use by another program. Use another port: npm start -- --port ${port + 1}`)
  }
  await prepareLocal()
  console.log('Starting …')
  serve(port, url, idp ? await startIdp(port, url) : null)
})

function readAsked(): { port: number; idp: boolean } {
  const { values } = readFlags({
    usage: 'npm start [-- [--port N] [--idp]]',
    about: `Serves the API and its console on this machine until Ctrl-C. Data is kept in ${STATE_ROOT}/state.`,
    flags: {
      port: { type: 'string', takes: 'N', help: 'the port to listen on', default: String(PORT) },
      idp: {
        type: 'boolean',
        help: 'also run an identity provider with two people, to try single sign-on; on the next port',
      },
    },
    notes:
      'Environment variables: LOCAL_RATE_LIMIT=N sets every rate limit to N a minute. STORES=N serves at\nleast N stores. LOCAL_STATE_DIR=FOLDER keeps the data in another folder, to run a second server of this checkout.',
  })
  const port = Number(values.port)
  if (!Number.isInteger(port) || port < 1 || port > 65535)
    fail(`--port must be a number from 1 to 65535, not ${values.port}`)
  return { port, idp: values.idp === true }
}

/** Starts the identity provider on the next port, where its address stays the same each time. */
async function startIdp(port: number, url: string): Promise<string> {
  const { startProvider } = await import('./idp/provider.ts')
  return startProvider(url, port + 1).catch((error: NodeJS.ErrnoException) =>
    fail(
      error.code === 'EADDRINUSE'
        ? `Port ${port + 1} is in use by another program. The identity provider needs it: choose another --port.`
        : String(error),
    ),
  )
}

/** Two servers cannot share one database. */
async function refuseSecond(): Promise<void> {
  const running = readRunning()
  if (running && (await answers(Number(new URL(running.url).port)))) {
    fail(
      `A server of this checkout is already running: ${running.url} (process ${running.pid}). Stop it first, or set LOCAL_STATE_DIR=FOLDER to run a second one with its own data.`,
    )
  }
}

function serve(port: number, url: string, idp: string | null): void {
  startSignInLog()
  const child = startWrangler(port, idp)
  const group = child.pid
  if (group === undefined) fail('Could not start wrangler.')
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
  child.stdin.on('error', () => {}) // It has already exited: the 'exit' handler deals with that.
  child.on('exit', () => {
    killGroup(group)
    rmSync(join(LOCAL_DIR, 'server.json'), { force: true })
    if (stopping) process.exit() // with process.exitCode
    fail(ready ? 'The server stopped unexpectedly.' : `The server did not start:\n\n${early.slice(-40).join('\n')}`)
  })

  awaitReady(url).then(
    async () => {
      ready = true
      await triggerScheduled(url)
      setInterval(() => void triggerScheduled(url), MINUTE)
      console.log(welcome(url, idp))
    },
    (error: Error) => {
      console.error(early.slice(-40).join('\n'))
      console.error(`\n${error.message}`)
      process.exitCode = 1
      stop()
    },
  )
}

/** Runs wrangler in a process group of its own, which ends with this process. */
function startWrangler(port: number, idp: string | null) {
  const listening = ['--port', String(port), '--ip', '127.0.0.1', '--inspector-port', '0']
  const args = ['dev', ...localConfig({ ...asked, idp: idp ?? undefined }), ...listening, '--persist-to', STATE_DIR]
  const flags = ['--var', 'SIGN_IN_DELIVERY:log', '--var', 'SIGN_UP:open', '--show-interactive-dev-session=false']
  return spawn(
    process.execPath,
    [join(import.meta.dirname, 'lib/supervise.ts'), process.execPath, WRANGLER, ...args, ...flags],
    { cwd: ROOT, env: { ...WRANGLER_ENV, LOCAL_PREPARED: '1' }, stdio: ['pipe', 'pipe', 'pipe'], detached: true },
  )
}

/** Prints a line of the server. A sign-in code gets a line to paste, and is kept for npm run demo and npm run send. */
function show(line: string, url: string): void {
  const link = SIGN_IN_LINK.exec(line)
  const [, confirming, challenged = ''] = CONFIRMATION.exec(line) ?? []
  console.log(line)
  if (confirming) rememberCode(challenged, confirming)
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
    if (answer?.status === 503 && (await answer.text()).includes('encryption_key_unavailable'))
      throw new Error(WRONG_KEY)
    await sleep(250)
  }
  throw new Error(`The server did not answer at ${url}/healthz within ${READY_WITHIN / 1000} s.`)
}

/**
 * `wrangler dev` runs no crons and loses the Queue's messages when it stops. Without this, the events of a killed run
 * would wait forever.
 */
async function triggerScheduled(url: string): Promise<void> {
  const answer = await fetch(`${url}/cdn-cgi/handler/scheduled`).catch((error) => error as Error)
  if (answer instanceof Error || !answer.ok) {
    console.error(`The scheduled handler failed: ${answer instanceof Error ? answer.message : await answer.text()}`)
  }
}

/** If npm is killed with SIGKILL, its script gets no signal, but the script's parent process changes. */
function stopWithNpm(stop: () => void): void {
  if (process.env.npm_lifecycle_event !== 'start') return
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) stop()
  }, 1000).unref()
}

/** Whether a program listens on a port of this machine. */
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
    // All of its processes have already ended.
  }
}
