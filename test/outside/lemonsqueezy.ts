import { type Account, type Api, apiHost, held, type Item } from './account.ts'

/*
 * `api.lemonsqueezy.com` for tests: the user, stores and webhooks. https://docs.lemonsqueezy.com/api/webhooks
 * A test asks it with Lemon Squeezy's own SDK. An account holds stores and webhooks, each with its hidden fields under `hidden`.
 */

let made = 0

export const lemonsqueezy = apiHost({
  keyOf: (request) => /^Bearer (\S+)$/i.exec(request.headers.get('Authorization') ?? '')?.[1] ?? null,
  unknown: () => refusal(401, 'Unauthenticated.'),
  failed: (status) => (status < 400 ? Response.json({}, { status }) : refusal(status, 'Failed.')),
  answer(url, account) {
    const path = url.pathname.replace(/^\/v1\//, '').replace(/\/$/, '')
    if (path === 'users/me')
      return json({ meta: { test_mode: account.test_mode === true }, data: { type: 'users', id: '1', attributes: {} } })
    if (path === 'stores' || path === 'webhooks') return list(url, account, path)
    const id = /^webhooks\/(\d+)$/.exec(path)?.[1]
    return id === undefined ? refusal(404, 'Not Found') : one(account, id)
  },
  write({ method, url, body }, account) {
    const [, id] = /^\/v1\/webhooks(?:\/(\d+))?\/?$/.exec(url.pathname) ?? [null, null]
    if (id === null) return refusal(404, 'Not Found')
    const { data } = body === '' ? { data: {} as Item } : (JSON.parse(body) as { data: Item })
    const { secret, ...shown } = (data.attributes ?? {}) as Item
    if (id === undefined) return create(account, data, { secret, shown })
    const webhook = account.objects[id]
    if (!webhook) return refusal(404, 'Not Found')
    if (method === 'DELETE') {
      account.objects[id] = null
      return new Response(null, { status: 204 })
    }
    const attributes = { ...(webhook.attributes as Item), ...shown }
    account.objects[id] = { ...webhook, attributes, ...(secret !== undefined && { hidden: { secret } }) }
    return one(account, id)
  },
} satisfies Api)

function list({ searchParams: query }: URL, account: Account, type: string): Response {
  const store = query.get('filter[store_id]')
  const all = held(account)
    .filter((it) => it.type === type)
    .filter(({ attributes }) => store === null || String((attributes as Item).store_id) === store)
  const perPage = Math.min(Number(query.get('page[size]') ?? 10), account.page_most ?? 100)
  const currentPage = Number(query.get('page[number]') ?? 1)
  const lastPage = Math.max(1, Math.ceil(all.length / perPage))
  const data = all.slice((currentPage - 1) * perPage, currentPage * perPage).map(shownOf)
  return json({ meta: { page: { currentPage, lastPage, perPage, total: all.length } }, data })
}

function create(account: Account, data: Item, { secret, shown }: { secret: unknown; shown: Item }): Response {
  const store = (data.relationships as { store?: { data?: { id?: string } } } | undefined)?.store?.data?.id
  if (typeof secret !== 'string' || secret.length < 6 || secret.length > 40)
    return refusal(422, 'The secret must be between 6 and 40 characters.')
  if (store === undefined || account.objects[store]?.type !== 'stores') return refusal(422, 'The store is invalid.')
  made += 1
  const id = String(900_000 + made)
  const created_at = new Date().toISOString()
  const attributes = { store_id: Number(store), ...shown, last_sent_at: null, created_at, updated_at: created_at }
  account.objects[id] = { type: 'webhooks', id, attributes, hidden: { secret } }
  return one(account, id, 201)
}

function one({ objects }: Account, id: string, status = 200): Response {
  const found = objects[id]
  return found ? json({ data: shownOf(found) }, status) : refusal(404, 'Not Found')
}

function shownOf({ hidden: _, ...shown }: Item): Item {
  return shown
}

function refusal(status: number, detail: string): Response {
  return json({ errors: [{ detail, status: String(status), title: detail }] }, status)
}

function json(body: Item, status = 200): Response {
  return Response.json(
    { jsonapi: { version: '1.0' }, ...body },
    { status, headers: { 'Content-Type': 'application/vnd.api+json' } },
  )
}
