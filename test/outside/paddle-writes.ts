import { type Account, held, type Item } from './account.ts'
import { one, permissionsOf, refusal } from './paddle.ts'

/*
 * What Paddle's API changes in tests: notification settings. https://developer.paddle.com/api-reference/notification-settings
 */

let made = 0

export function writePaddle(
  { method, url, body }: { method: string; url: URL; body: string },
  account: Account,
): Response {
  const [path, id] = url.pathname.slice(1).split('/')
  if (path !== 'notification-settings') return refusal(404, 'invalid_url', 'The URL is not valid.')
  if (!permissionsOf(account).includes('notification_setting.write'))
    return refusal(403, 'forbidden', "You aren't permitted to perform this request.")
  const sent = body === '' ? {} : (JSON.parse(body) as Item)
  if (id === undefined) return create(account, sent)
  const setting = account.objects[id]
  if (!setting) return refusal(404, 'not_found', `Entity ${id} not found`)
  if (method === 'DELETE') {
    account.objects[id] = null
    return new Response(null, { status: 204 })
  }
  if (sent.active === true && setting.active !== true && isFull(account)) return tooMany()
  Object.assign(setting, shaped(sent))
  return one(setting)
}

function create(account: Account, sent: Item): Response {
  if (isFull(account)) return tooMany()
  made += 1
  // Ids grow with time.
  const id = `ntfset_01${Date.now()}${String(made).padStart(11, '0')}`
  const secret = `pdl_ntfset_${id.slice(7)}_${crypto.randomUUID().replaceAll('-', '')}`
  const setting = { id, api_version: 1, include_sensitive_fields: false, active: true, ...shaped(sent) }
  account.objects[id] = { ...setting, endpoint_secret_key: secret }
  return one(account.objects[id] as Item, 201)
}

function shaped(sent: Item): Item {
  const events = sent.subscribed_events as string[] | undefined
  if (!events) return sent
  return { ...sent, subscribed_events: events.map((name) => ({ name, description: name, group: name.split('.')[0] })) }
}

function isFull(account: Account): boolean {
  const active = held(account).filter(({ id, active }) => String(id).startsWith('ntfset_') && active === true)
  return active.length >= (account.endpoints_most ?? 10)
}

function tooMany(): Response {
  return refusal(400, 'notification_setting_limit', 'Only 10 notification settings can be active at once.')
}
