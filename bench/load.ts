/*
 * The load generator, in a thread of its own: a closed loop, each connection sends its next request when its last one is
 * answered. The same code for everything that is measured.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { parentPort, Worker } from 'node:worker_threads'
import { deflateRawSync } from 'node:zlib'
import { OBJECTS } from './objects.ts'

/**
 * What is sent. `json`: the body, the same each time. `stripe`: a new event of 4 KB each time, signed under this secret; `kind`: of an object of this kind, a
 * subscription by default; `objects`: of one of so many objects, instead of a new one each time; `bytes`: of
 * so many bytes.
 */
export type Recipe = {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  json?: string
  stripe?: string
  kind?: keyof typeof OBJECTS
  objects?: number
  bytes?: number
}
export type Order = { recipe: Recipe; ms: number; connections: number }
export type Measured = { count: number; ms: number; latencies: number[]; failed: string | null }

const EVENT_BYTES = 4096
const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/** A generator that runs one order at a time. */
export function openGenerator(): { run: (order: Order) => Promise<Measured>; close: () => Promise<number> } {
  const thread = new Worker(import.meta.filename)
  return {
    run: (order) =>
      new Promise((resolve, reject) => {
        thread.removeAllListeners('error').once('message', resolve).once('error', reject)
        thread.postMessage(order)
      }),
    close: () => thread.terminate(),
  }
}

parentPort?.on('message', async (order: Order) => parentPort?.postMessage(await run(order)))

async function run({ recipe, ms, connections }: Order): Promise<Measured> {
  const latencies: number[] = []
  let failed: string | null = null
  const began = performance.now()
  const loop = async () => {
    while (performance.now() - began < ms && failed === null) {
      const sentAt = performance.now()
      const status = await sendOne(recipe).catch((error: Error) => error.message)
      if (typeof status === 'string') failed = status
      latencies.push(performance.now() - sentAt)
    }
  }
  await Promise.all(Array.from({ length: connections }, loop))
  return { count: latencies.length, ms: performance.now() - began, latencies, failed }
}

/** @returns nothing where it was answered well, else what was said */
export function sendOne(recipe: Recipe, more: Record<string, string> = {}): Promise<string | null> {
  const { url, method } = recipe
  const body = recipe.stripe === undefined ? recipe.json : newEvent(recipe)
  const headers: Record<string, string> = { ...recipe.headers, ...more }
  if (body !== undefined) {
    headers['Content-Type'] = 'application/json'
    headers['Content-Length'] = String(Buffer.byteLength(body))
    if (recipe.stripe !== undefined) headers['Stripe-Signature'] = signature(recipe.stripe, body)
  }
  return new Promise((resolve, reject) => {
    const call = request(url, { method, headers, agent }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      answer.on('end', () =>
        resolve(isGood(recipe, answer.statusCode ?? 0) ? null : `${url}: ${answer.statusCode} ${text}`),
      )
    })
    call.on('error', reject)
    call.end(body)
  })
}

/** Authentication alone is asked for with a cursor of no list, which is refused once the caller is known: 400. */
function isGood({ url }: Recipe, status: number): boolean {
  return url.endsWith('cursor=none') ? status === 400 : status === 200
}

/** Each is a second younger than the one before: none of them tie. */
let created = 1_700_000_000

function newEvent({ kind = 'subscription', objects, bytes = EVENT_BYTES }: Recipe): string {
  const id = randomBytes(12).toString('hex')
  created += 1
  const { event, prefix, object } = OBJECTS[kind]
  const objectId = `${prefix}_${objects === undefined ? id : `bench${created % objects}`}`
  const sent = {
    id: `evt_${id}`,
    object: 'event',
    created,
    livemode: true,
    type: event,
    data: { object: { ...object, id: objectId, note: '' } },
  }
  const room = bytes - Buffer.byteLength(JSON.stringify(sent))
  const random = randomLetters(kind, JSON.stringify(sent), { room, bytes })
  sent.data.object.note = random + 'x'.repeat(room - random.length)
  return JSON.stringify(sent)
}

/** What Stripe's events deflate to, of their own bytes: recorded ones. */
const DEFLATED = 0.32
const lengths = new Map<string, number>()

/** As many letters that hardly deflate as make an event deflate like a recorded one. */
function randomLetters(kind: string, event: string, { room, bytes }: { room: number; bytes: number }): string {
  const length =
    lengths.get(`${kind} ${bytes}`) ??
    Math.min(room, Math.max(0, Math.round((DEFLATED * bytes - deflateRawSync(event).byteLength) / 0.75)))
  lengths.set(`${kind} ${bytes}`, length)
  return randomBytes(length).toString('base64').slice(0, length)
}

function signature(secret: string, body: string): string {
  const at = Math.floor(Date.now() / 1000)
  return `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`
}
