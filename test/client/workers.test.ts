import { expect, it } from 'vitest'
import { callTable } from '../../scripts/lib/client-calls'
import { begin, call, freshAddress, freshProject, ORIGIN } from '../harness'

/*
 * The client package's own code in workerd, where an edge worker runs it, against the Worker's handler. The compiler sees client/src
 * only when the package is built, because the types are generated then: so it is loaded without types here.
 */

type Call = (given?: object, options?: object) => Promise<Record<string, unknown>>
type Api = Record<'putConsumer' | 'putFeature' | 'createPlan' | 'createGrant' | 'getConsumer' | 'listConsumers', Call>
type Source = {
  connect: (calls: object, options: object) => Api
  entitlementTokens: (api: Api) => Record<'allows' | 'token', (...args: string[]) => Promise<unknown>>
  tokenVerifier: (api: Api) => (token: string) => Promise<{ ent: object }>
  items: (list: Call) => AsyncIterable<Record<string, unknown>>
  verifyWebhook: (body: string, headers: Headers, secret: string) => Promise<{ id: string }>
}
const files = import.meta.glob<object>('../../client/src/{connect,entitlements,lists,tokens,webhooks}.ts', {
  eager: true,
})
const { connect, entitlementTokens, items, tokenVerifier, verifyWebhook } = Object.assign(
  {},
  ...Object.values(files),
) as Source

/** A client of the Worker. `refuse` answers in its place while it returns something. */
async function clientOf(token: string, projectId: string, refuse: () => Response | null = () => null) {
  const calls = callTable((await call('/openapi.json')).text)
  const fetch = async (request: Request) => {
    const refused = refuse()
    if (refused) return refused
    const headers = { ...Object.fromEntries(request.headers), 'CF-Connecting-IP': freshAddress() }
    const body = await request.text()
    const { response, rest } = await begin(request.url, { method: request.method, headers, ...(body && { body }) })
    await rest()
    return response
  }
  return connect(calls, { baseUrl: ORIGIN, token, projectId, fetch })
}

it('makes calls, repeats them, reads lists, and decides by tokens', async () => {
  const { project, owner } = await freshProject()
  let refusals = 1
  const api = await clientOf(owner.token, project, () => (refusals-- > 0 ? new Response(null, { status: 503 }) : null))
  await api.putConsumer({ consumer: 'ext:ada', body: { name: 'Ada ✓' } })
  expect(refusals).toBe(-1)
  for await (const consumer of items(api.listConsumers)) expect(consumer).toMatchObject({ name: 'Ada ✓' })

  await api.putFeature({ key: 'sso', body: { name: 'Single sign-on', type: 'boolean' } })
  await api.createPlan({ body: { key: 'pro', name: 'Pro' } })
  const entitlements = entitlementTokens(api)
  expect(await entitlements.allows('ext:ada', 'sso')).toBe(false)
  await api.createGrant({ body: { consumer: 'ext:ada', feature: 'sso' } })
  const fresh = entitlementTokens(api)
  expect(await fresh.allows('ext:ada', 'sso')).toBe(true)
  expect((await tokenVerifier(api)(String(await fresh.token('ext:ada')))).ent).toEqual({ sso: true })
  await expect(tokenVerifier(api)('a.b.c')).rejects.toMatchObject({ code: 'invalid_token' })
})

it('throws what the API says, and ends with its signal', async () => {
  const { project, owner } = await freshProject()
  const api = await clientOf(owner.token, project)
  await expect(api.getConsumer({ consumer: 'ext:nobody' })).rejects.toMatchObject({ code: 'not_found', status: 404 })
  const late = await clientOf(
    owner.token,
    project,
    () => new Response(null, { status: 429, headers: { 'Retry-After': '20' } }),
  )
  const signal = AbortSignal.timeout(100)
  await expect(late.getConsumer({ consumer: 'ext:nobody' }, { signal })).rejects.toMatchObject({ name: 'TimeoutError' })
})

it('verifies a webhook', async () => {
  const secret = btoa('a secret of this test')
  const now = String(Math.floor(Date.now() / 1000))
  const key = await crypto.subtle.importKey(
    'raw',
    new TextEncoder().encode('a secret of this test'),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(`chg_1.${now}.{}`))
  const headers = new Headers({
    'webhook-id': 'chg_1',
    'webhook-timestamp': now,
    'webhook-signature': `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`,
  })
  expect(await verifyWebhook('{}', headers, `whsec_${secret}`)).toMatchObject({ id: 'chg_1' })
  await expect(verifyWebhook('{ }', headers, `whsec_${secret}`)).rejects.toMatchObject({ code: 'invalid_webhook' })
})
