import { begin, call, deliver, drain, freshKey, type Json, lossyQueue, stripeConnection, stripeEvent } from '../harness'

export const KEYS = '/platform/v1/api-keys'
export const PROJECTS = '/platform/v1/projects'
export const WEBHOOKS = '/platform/v1/billing/webhooks'

export const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const SECRET = /^svc_v1_[0-9a-f]{96}$/
/** The specified fields of a redacted key row, in their order. */
export const SPECIFIED_ROW = ['id', 'name', 'key_prefix', 'created_at', 'last_used_at']

/** The row of a key in its project's list. */
export async function rowOf(token: string, project: string, id: string): Promise<Json['key']> {
  const { body } = await call<{ data: Json['key'][] }>(`${KEYS}?limit=100`, { token, project })
  const row = body.data.find((one) => one.id === id)
  if (!row) throw new Error(`the project lists no key ${id}`)
  return row
}

/** One request, answered as soon as the response is there: what it leaves to `waitUntil` is not waited for. */
export async function answerOf(path: string, token: string, project: string, method = 'GET') {
  const { response } = await begin(path, { token, project, method })
  const text = await response.text()
  return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as Json }
}

/** Rotates a key. */
export function rotate(token: string, project: string, id: string) {
  return call(`${KEYS}/${id}/rotate`, { method: 'POST', token, project })
}

/** A project with a key, a Stripe connection, and an event that the Queue lost: recorded and not processed. */
export async function freshEvent(event: unknown = stripeEvent()) {
  const world = await freshKey()
  const connection = await stripeConnection(world.secret, world.project)
  const { EVENTS, sent } = lossyQueue()
  const { status, body, text } = await deliver(connection.id, event, { bindings: { EVENTS } })
  if (status !== 200) throw new Error(`the delivery answered ${status}: ${text}`)
  const id = body.event_ids[0]
  const read = async () => (await call(`${WEBHOOKS}/${id}`, { token: world.secret, project: world.project })).body
  return { ...world, connection, event, id, sent, read, process: () => drain(sent.splice(0)) }
}

/** Replays an event. */
export function replay(world: { secret: string; project: string; id: string }, bindings = {}) {
  const { secret: token, project } = world
  return call(`${WEBHOOKS}/${world.id}/replay`, { method: 'POST', token, project, bindings })
}
