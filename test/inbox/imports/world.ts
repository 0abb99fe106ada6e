import { billingWorld } from '../../billing/world'
import { advance } from '../../clock'
import {
  type AccountSettings,
  type Json,
  newPaddleAccount,
  newPaddleKey,
  newStripeAccount,
  newStripeKey,
  seenBy,
} from '../../harness'
import type { Item } from '../../outside/account'
import { cron, memoryQueue, rows } from '../pipeline'
import { setKey } from '../refresh/world'

export type ImportWorld = Awaited<ReturnType<typeof importWorld>>
export type Bindings = NonNullable<Parameters<ReturnType<typeof memoryQueue>['pump']>[0]>
type Objects = readonly (Item & { id: string })[]
type Settings = Omit<AccountSettings, 'objects'> & { vendor?: 'stripe' | 'paddle' }

/** What most tests import. Payment methods and prices have tests of their own. */
export const STATE = { kinds: ['customers', 'subscriptions', 'invoices'] }

/** A project whose connection has the API key of an account with these objects, and a Queue of fetches in memory. The clock must be stopped. */
export async function importWorld(objects: Objects, { vendor = 'stripe', ...settings }: Settings = {}) {
  const world = await billingWorld()
  const connection = vendor === 'stripe' ? world.connection.id : world.paddle
  const apiKey = vendor === 'stripe' ? newStripeKey('live') : newPaddleKey('live')
  await (vendor === 'stripe' ? newStripeAccount : newPaddleAccount)({ ...settings, objects }, apiKey)
  await setKey(world, connection, apiKey)
  const fetches = memoryQueue('platform-api-fetches')
  const path = `/connections/${connection}/imports`
  const bindings = { EVENTS: world.queue.EVENTS, FETCHES: fetches.EVENTS }
  const read = async (id: string): Promise<Json> => (await world.api(`${path}/${id}`)).body
  /** One page, if one is due. */
  const page = (more: Bindings = {}) => fetches.pump({ ...bindings, ...more }, { batches: 1 })
  return {
    ...world,
    /** The id of the connection that imports. */
    from: connection,
    apiKey,
    fetches,
    bindings,
    path,
    page,
    read,
    post: (json: object = STATE) => world.api(path, { method: 'POST', json, bindings }),
    cancel: (id: string) => world.api(`${path}/${id}/cancel`, { method: 'POST', bindings }),
    /** Starts an import. @returns its id */
    async start(json: object = STATE): Promise<string> {
      const { status, body, text } = await world.api(path, { method: 'POST', json, bindings })
      if (status !== 202) throw new Error(`the import was not started: ${status} ${text}`)
      return body.id
    },
    /** Lets time pass, page by page, with the cron at work each minute, until the import has ended. */
    async finish(id: string, more: Bindings = {}): Promise<Json> {
      let minute = Date.now()
      for (let round = 0; round < 400; round++) {
        await page(more)
        const now = await read(id)
        if (now.finished_at !== null) return now
        const next = Math.min(...fetches.waiting().map(({ dueAt }) => dueAt), minute + 60_000)
        advance(Math.max(1000, next - Date.now()))
        if (Date.now() - minute >= 60_000) {
          minute = Date.now()
          await cron(bindings)
          await world.queue.pump()
        }
      }
      throw new Error(`the import did not end: ${JSON.stringify(await read(id))}`)
    },
    /** The requests that the account has had for pages. */
    asked: async () => (await seenBy(apiKey)).map(({ url }) => new URL(url)).filter((url) => isPage(url)),
    fetched: () =>
      rows("SELECT id, event_type, status FROM events WHERE project_id = ? AND id >= 'ftc'", world.project),
  }
}

function isPage({ searchParams }: URL): boolean {
  const asked = searchParams.get('limit') ?? searchParams.get('per_page')
  return asked !== null && asked !== '1'
}

/** What an import says of its kinds, briefly: state, seen, recorded, unchanged, and what was left out if anything was. */
export function brief({ kinds }: Json): Record<string, string> {
  type Shown = { state: string; seen: number; recorded: number; unchanged: number; left_out: number }
  const shown = Object.entries<Shown>(kinds)
  return Object.fromEntries(
    shown.map(([kind, { state, seen, recorded, unchanged, left_out }]) => [
      kind,
      `${state} ${seen} ${recorded} ${unchanged}${left_out > 0 ? `, ${left_out} left out` : ''}`,
    ]),
  )
}

/** Billing rows, without what says when and by which record they were written. */
export async function state(project: string): Promise<unknown[]> {
  return rows(
    `SELECT kind, vendor_id, vendor, customer, status, ambiguous, incomplete FROM billing_objects
      WHERE project_id = ? ORDER BY kind, vendor_id`,
    project,
  )
}
