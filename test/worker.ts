import { env } from 'cloudflare:workers'

/*
 * What is done once in each worker that runs tests. Files that share a worker share this module, while setup.ts is run for
 * each of them.
 */

/** Bytes that the values of one statement may have together. D1 holds each of them several times while it runs. */
const MAX_BOUND = 1_000_000

// Of every statement of every test, whoever sends it.
const prototype = Object.getPrototypeOf(env.DB.prepare('SELECT 1')) as D1PreparedStatement
const { bind } = prototype
prototype.bind = function (...values: unknown[]) {
  const bytes = sum(values, mostBytesOf) > MAX_BOUND ? sum(values, bytesOf) : 0
  if (bytes > MAX_BOUND) throw new Error(`a statement binds ${bytes} bytes: at most ${MAX_BOUND} are allowed`)
  return bind.apply(this, values)
}

function sum(values: unknown[], bytes: (value: unknown) => number): number {
  return values.reduce<number>((total, value) => total + bytes(value), 0)
}

/** As {@link bytesOf}, without looking at each character. */
function mostBytesOf(value: unknown): number {
  return typeof value === 'string' ? 3 * value.length : bytesOf(value)
}

function bytesOf(value: unknown): number {
  if (typeof value === 'string') return new TextEncoder().encode(value).byteLength
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value) ? value.byteLength : 8
}

/** How long a pause of the Worker may last in a test (ms). */
const MAX_PAUSE = 5

// The Worker pauses before it asks D1 again, and before it answers that a connection accepts more, until no other isolate
// refuses from older memory. In a test, D1 is a stand-in and there is no other isolate: nothing needs the time. Tests of a
// pause ask how long it was to be. Time limits are timers (setTimeout), and stay as they are.
const { wait } = scheduler
scheduler.wait = (ms, options) => wait.call(scheduler, Math.min(ms, MAX_PAUSE), options)

/** A line that the Worker logs: src/http/log.ts. */
const isLogLine = (line: unknown): line is string => typeof line === 'string' && line.startsWith('{"time":')

/** How many lines of a test are kept. */
const MAX_LINES = 100
/** The last lines that the Worker logged in this test. */
const lines: string[] = []
/** The console whose lines are kept, and how it prints. */
let kept: { console: Console; print: Console['log'] } | undefined

/**
 * Keeps what the Worker logs, for a test that fails. Each line that is printed is a message to the test runner, which was a fifth of the
 * CPU time of a run. Other lines are printed at once.
 */
export function keepLog(): void {
  lines.length = 0
  if (kept?.console === console) return
  const { log: print } = console
  kept = { console, print }
  console.log = console.error = (...parts: unknown[]) => {
    const [line] = parts
    if (!isLogLine(line)) print(...parts)
    else if (lines.push(line) > MAX_LINES) lines.shift()
  }
}

/** Prints what the Worker logged in this test. */
export function printLog(): void {
  for (const line of lines.splice(0)) kept?.print(line)
}

let reminder: ReturnType<typeof setInterval> | undefined

/**
 * At the end of a file, a line that a handler logs in a context of its own (the Queue's, with a batch of an earlier test) waits
 * in the test plugin until the worker sends its next message. The worker sends none before the line is sent, so the run would
 * wait for ever. This makes sure that there is a next message. Version 1.5.0 of the plugin needs it no longer: see
 * https://github.com/cloudflare/workers-sdk/issues/15498.
 */
export const fileBegins = () => clearInterval(reminder)
export const fileEnds = () => {
  // biome-ignore lint/suspicious/noConsole: a line is the only message that a test can send
  reminder = setInterval(() => console.debug('The file ends, and waits for the lines of other handlers.'), 1000)
}
