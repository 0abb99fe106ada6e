import { must } from '../../scripts/lib/api.ts'
import { URL_OF_CONSOLE } from './browser.ts'

type Place = { token: string; project: string; empty: string }

/**
 * Fills a project with consumers and customers, some of them with the longest values, and names the pages about them.
 *
 * @param customer sends an event of a customer
 */
export async function consumerPaths(
  { token, project, empty }: Place,
  customer: (object: Record<string, unknown>) => Promise<string>,
): Promise<Record<string, string>> {
  const call = <T>(path: string, json: unknown, method: 'PUT' | 'POST' | 'DELETE') =>
    must<T>(`${URL_OF_CONSOLE}/platform/v1/consumers/${path}`, {
      method,
      token,
      project,
      ...(json !== undefined && { json }),
    })
  const put = (externalId: string, json: unknown) => call<{ id: string }>(`ext:${externalId}`, json, 'PUT')
  const email = 'quite.a.long.address.of.somebody@engineering.example.com'
  const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`key_${n}`, '"'.repeat(250)]))
  const longest = await put('x'.repeat(200), { email, name: 'N'.repeat(100), metadata })
  const ada = await put('user_1', { email, name: 'Ada' })
  const twin = await put('user_2', { email, name: 'Ada L.' })
  const gone = await put('user_3', { name: 'Grace' })
  await call(`${gone.id}/merge`, { into: ada.id }, 'POST')
  await call(`${longest.id}/block`, { reason: 'chargeback' }, 'POST')
  const named = { object: 'customer', email, name: 'Ada', metadata: { consumer_external_id: 'user_1' } }
  for (let n = 0; n < 12; n++) await customer({ ...named, id: `cus_of_ada_${n}` })
  await customer({ ...named, id: 'cus_unlinked', metadata: {} })
  const device = { platform: 'ios', name: 'N'.repeat(100), model: 'M'.repeat(100), os_version: '19.1' }
  const registered = await call<{ device: { id: string } }>(`${ada.id}/devices/${'i'.repeat(128)}`, device, 'PUT')
  const erased = await put('user_4', { email })
  await call(erased.id, undefined, 'DELETE')
  const base = `/console/p/${project}/platform`
  const at = `${base}/consumers`
  return {
    'consumers-empty': `/console/p/${empty}/platform/consumers`,
    consumers: at,
    'general-consumers': `/console/p/${project}/platform/settings/general?tab=consumers`,
    'consumers-found': `${at}?q=${email}`,
    'consumers-none': `${at}?q=nobody`,
    'new-consumer': `${at}/new`,
    consumer: `${at}/${ada.id}`,
    'consumer-billing': `${at}/${ada.id}?tab=billing`,
    'consumer-devices': `${at}/${ada.id}?tab=devices`,
    'consumer-blocked': `${at}/${longest.id}`,
    'consumer-merged': `${at}/${gone.id}`,
    'consumer-erased': `${at}/${erased.id}`,
    'erase-consumer': `${at}/${longest.id}/erase`,
    'revoke-device': `${at}/${ada.id}/devices/${registered.device.id}/revoke`,
    'edit-consumer': `${at}/${longest.id}/edit`,
    'block-consumer': `${at}/${ada.id}/block`,
    'unblock-consumer': `${at}/${longest.id}/unblock`,
    'merge-consumer': `${at}/${ada.id}/merge`,
    'merge-several': `${at}/${ada.id}/merge?into=${email}`,
    'merge-confirm': `${at}/${longest.id}/merge?into=${twin.id}`,
    'unlinked-empty': `/console/p/${empty}/platform/consumers/unlinked`,
    unlinked: `${at}/unlinked`,
    'link-customer': `${base}/billing/customers/stripe/cus_unlinked/consumer`,
    'unpin-customer': `${base}/billing/customers/stripe/cus_unlinked/unpin`,
  }
}
