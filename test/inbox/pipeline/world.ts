import { advance } from '../../clock'
import { type Answer, call, deliver, freshKey, type Json, type RequestOptions, stripeConnection } from '../../harness'
import { cron } from './cron'
import { memoryQueue } from './queue'
import { rows, stored } from './rows'

export type World = Awaited<ReturnType<typeof newWorld>>

/** A fresh project with a Stripe connection and a Queue of its own. */
export async function newWorld() {
  const { project, owner, secret: token, key } = await freshKey()
  const connection = await stripeConnection(token, project)
  const queue = memoryQueue()
  return {
    project,
    owner,
    token,
    key,
    connection,
    queue,
    /** A delivery of Stripe's, its message kept by the memory Queue. */
    send: (event: unknown, { bindings, ...options }: Parameters<typeof deliver>[2] = {}) =>
      deliver(connection.id, event, { ...options, bindings: { EVENTS: queue.EVENTS, ...bindings } }),
    /** A request to the project's API. */
    api: <T = Json>(path: string, { bindings, ...options }: RequestOptions = {}): Promise<Answer<T>> =>
      call(`/platform/v1/billing${path}`, {
        token,
        project,
        ...options,
        bindings: { EVENTS: queue.EVENTS, ...bindings },
      }),
    event: async (id: string) => (await call(`/platform/v1/billing/webhooks/${id}`, { token, project })).body,
    attempts: async (id: string) =>
      (await call(`/platform/v1/billing/webhooks/${id}/attempts`, { token, project })).body.data,
    replay: (id: string, options: RequestOptions = {}): Promise<Answer> =>
      call(`/platform/v1/billing/webhooks/${id}/replay`, {
        method: 'POST',
        token,
        project,
        ...options,
        bindings: { EVENTS: queue.EVENTS, ...options.bindings },
      }),
  }
}

/**
 * Lets time pass, with the cron and the consumer at work, until nothing of the project is open and no message is on
 * its way. The clock has to be stopped.
 */
export async function settle({ project, queue }: Pick<World, 'project' | 'queue'>, rounds = 60): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await queue.pump()
    const open = await rows<{ due_at: number; lease_until: number | null }>(
      'SELECT due_at, lease_until FROM events WHERE project_id = ? AND due_at IS NOT NULL',
      project,
    )
    const next = [
      ...open.map(({ due_at, lease_until }) => Math.max(due_at, lease_until ?? 0)),
      ...queue.waiting().map(({ dueAt }) => dueAt),
    ]
    if (next.length === 0) return
    advance(Math.max(1000, Math.min(...next) - Date.now()))
    await cron({ EVENTS: queue.EVENTS })
  }
  throw new Error(`still open after ${rounds} rounds: ${JSON.stringify(await stored(project))}`)
}
