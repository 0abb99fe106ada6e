import { must } from '../../scripts/lib/api.ts'
import { URL_OF_CONSOLE } from './browser.ts'

/** The paths of the pages about webhooks out, by name, in a project that gets an endpoint with an attempt. */
export async function endpointPaths({ token, project, empty }: { token: string; project: string; empty: string }) {
  const calls = `${URL_OF_CONSOLE}/platform/v1/webhook-endpoints`
  const json = { url: `https://hooks.plain.dev/${'long'.repeat(40)}`, types: ['subscription.*', 'consumer.*'] }
  const { endpoint } = await must<{ endpoint: { id: string } }>(calls, { token, project, json })
  await must(`${calls}/${endpoint.id}/test`, { method: 'POST', token, project })
  const relay = { connection_ids: null, event_types: ['invoice.*', 'charge.failed'], replays: true }
  const other = await must<{ endpoint: { id: string } }>(calls, {
    token,
    project,
    json: { url: 'https://relay.plain.dev/stripe', relay },
  })
  await must(`${calls}/${endpoint.id}/resend`, { token, project, json: { after: 0, until: 1, failed_only: true } })
  const at = `/console/p/${project}/platform/webhook-endpoints`
  return {
    'endpoints-empty': `/console/p/${empty}/platform/webhook-endpoints`,
    endpoints: at,
    'new-endpoint': `${at}/new`,
    endpoint: `${at}/${endpoint.id}`,
    'edit-endpoint': `${at}/${endpoint.id}/edit`,
    'resend-changes': `${at}/${endpoint.id}/resend`,
    relay: `${at}/${other.endpoint.id}`,
    'edit-relay': `${at}/${other.endpoint.id}/edit`,
    'disable-endpoint': `${at}/${endpoint.id}/disable`,
    'delete-endpoint': `${at}/${endpoint.id}/delete`,
  }
}
