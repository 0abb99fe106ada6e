import type { Env } from '../../../src/env'
import { hex, hmac, utf8 } from '../../../src/lib/crypto'
import { call } from '../../harness'
import type { World } from './world'

/** A GoCardless delivery of thin events, each with a note if there is one, signed: https://developer.gocardless.com/api-reference/#webhooks-overview */
export async function sendGocardless(
  { project, token, queue }: Pick<World, 'project' | 'token' | 'queue'>,
  connection: string,
  ids: string[],
  { note, ...bindings }: Partial<Env> & { note?: string } = {},
) {
  const body = JSON.stringify({
    events: ids.map((id) => ({
      id,
      created_at: '2026-01-01T00:00:00.000Z',
      resource_type: 'payments',
      action: 'confirmed',
      links: { payment: `PM_${id}` },
      ...(note && { note }),
    })),
  })
  return call(`/ingest/${connection}`, {
    method: 'POST',
    body,
    token,
    project,
    headers: { 'Webhook-Signature': hex(await hmac('SHA-256', utf8(GOCARDLESS_SECRET), body)) },
    bindings: { EVENTS: queue.EVENTS, ...bindings },
  })
}
export const GOCARDLESS_SECRET = 'a-gocardless-endpoint-secret'

export async function gocardlessConnection({ api }: Pick<World, 'api'>): Promise<string> {
  const json = { vendor: 'gocardless', name: 'GoCardless', livemode: true, signing_secret: GOCARDLESS_SECRET }
  const { body } = await api('/connections', { method: 'POST', json })
  return body.id
}
