import { must } from '../../scripts/lib/api.ts'
import { URL_OF_CONSOLE } from './browser.ts'

/** The paths of the pages about webhooks out, by name, in a project that gets an endpoint with an attempt. */
export async function endpointPaths({ token, project, empty }: { token: string; project: string; empty: string }) {
  const calls = `${URL_OF_CONSOLE}/platform/v1/webhook-endpoints`
  const json = { url: `https://hooks.plain.dev/${'long'.repeat(40)}`, types: ['subscription.*', 'consumer.*'] }
  const { endpoint } = await must<{ endpoint: { id: string } }>(calls, { token, project, json })
  await must(`${calls}/${endpoint.id}/test`, { method: 'POST', token, project })
  const at = `/console/p/${project}/platform/webhook-endpoints`
  return {
    'endpoints-empty': `/console/p/${empty}/platform/webhook-endpoints`,
    endpoints: at,
    'new-endpoint': `${at}/new`,
    endpoint: `${at}/${endpoint.id}`,
    'edit-endpoint': `${at}/${endpoint.id}/edit`,
    'disable-endpoint': `${at}/${endpoint.id}/disable`,
    'delete-endpoint': `${at}/${endpoint.id}/delete`,
  }
}
