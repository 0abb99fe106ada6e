import { describe, expect, it } from 'vitest'
import { originFrom } from '../../src/lib/origin'
import { visit } from '../console/visit'
import { call, captureConsole, freshProject, mailbox, ORIGIN, type RequestOptions, stripeConnection } from '../harness'
import { codeIn, freshEmail } from '../sessions/signing-in'

const EVIL = 'https://evil.example'
const CONNECTIONS = '/platform/v1/billing/connections'

/** All that names an address of ours, in what a request to this host gets. */
async function named(host: string, PUBLIC_ORIGIN: string) {
  const { project, owner } = await freshProject()
  const { EMAIL, mails } = mailbox()
  const bindings = { EMAIL, PUBLIC_ORIGIN, SURFACE_TARGET: '' } // without it, any host is served
  const asked = { token: owner.token, project, bindings }
  const { id } = await stripeConnection(owner.token, project)
  const one = await call(`${host}${CONNECTIONS}/${id}`, asked)
  const list = await call(`${host}${CONNECTIONS}`, asked)
  const renamed = await call(`${host}${CONNECTIONS}/${id}`, { ...asked, method: 'PATCH', json: { name: 'other' } })
  const json = { vendor: 'stripe', name: 'Two', livemode: true, signing_secret: 'whsec_0123456789' }
  const made = await call(`${host}${CONNECTIONS}`, { ...asked, method: 'POST', json })
  await call(`${host}/auth/codes`, { method: 'POST', json: { email: freshEmail() }, bindings })
  const base = `${host}/console/p/${project}/platform`
  const cookie = { Cookie: `__Host-session=${owner.token}` }
  const pages = [`${base}/settings/api-keys`, `${base}/billing/connections/${id}`].map((path) =>
    visit(path, null, { bindings, headers: cookie }),
  )
  return {
    ingest: [one.body.ingest_url, list.body.data[0].ingest_url, renamed.body.ingest_url].map((url) =>
      url.replace(id, 'ID'),
    ),
    created: made.body.ingest_url.replace(made.body.id, 'ID'),
    server: (await call<{ servers: unknown }>(`${host}/openapi.json`, { bindings })).body.servers,
    type: (await call(`${host}/nothing`, { bindings })).body.type,
    mail: mails[0]?.text ?? '',
    pages: (await Promise.all(pages)).map(({ text }) => text).join('\n'),
  }
}

describe('links', () => {
  it.each([EVIL, 'https://platform-api.example.workers.dev', 'http://localhost:8787'])(
    'begin with PUBLIC_ORIGIN, whatever host the request names: %s',
    async (host) => {
      const found = await named(host, 'https://api.example.com')
      expect(found).toMatchObject({
        ingest: Array(3).fill('https://api.example.com/ingest/ID'),
        created: 'https://api.example.com/ingest/ID',
        server: [{ url: 'https://api.example.com' }],
        type: 'https://api.example.com/errors#not_found',
      })
      expect(found.pages).toContain('curl https://api.example.com/platform/v1/api-keys/self')
      expect(found.pages).toContain('https://api.example.com/ingest/con_')
      expect(JSON.stringify(found)).not.toContain(new URL(host).host)
      // On this machine the code is printed instead, with a link to this machine.
      if (!host.includes('localhost')) expect(found.mail).toContain('https://api.example.com/auth/sign-in?challenge=')
    },
  )

  it.each(['http://localhost:8787', 'http://127.0.0.1:4321', 'http://[::1]:8787', 'http://localhost'])(
    'begin with the host of a request to this machine, without the setting: %s',
    async (host) => {
      const printed = captureConsole()
      const found = await named(host, '')
      expect(found).toMatchObject({
        ingest: Array(3).fill(`${host}/ingest/ID`),
        server: [{ url: host }],
        type: `${host}/errors#not_found`,
      })
      expect(printed.join('\n')).toContain(`${host}/auth/sign-in?challenge=`)
    },
  )

  it.each([EVIL, 'https://localhost.evil.example', 'https://127.0.0.1.evil.example'])(
    'name no host without the setting, and a sign-in mail has its code alone: %s',
    async (host) => {
      const found = await named(host, '')
      expect(found).toMatchObject({
        ingest: Array(3).fill('/ingest/ID'),
        created: '/ingest/ID',
        server: [{ url: '/' }],
        type: '/errors#not_found',
      })
      expect(codeIn({ text: found.mail } as never)).toMatch(/^[0-9A-Z]{8}$/)
      expect(found.mail).not.toMatch(/https?:/)
      expect(found.pages).toContain('PUBLIC_ORIGIN')
      expect(JSON.stringify(found)).not.toContain(new URL(host).host)
    },
  )
})

describe('a deployment without PUBLIC_ORIGIN', () => {
  const unset: RequestOptions = { bindings: { PUBLIC_ORIGIN: '' } }

  it('says so in its health, and how to set it', async () => {
    const answer = await call(`${EVIL}/healthz`, unset)
    expect([answer.status, answer.body.code]).toEqual([503, 'public_origin_missing'])
    expect(answer.body.detail).toContain('Set PUBLIC_ORIGIN to')
  })

  it.each(['http://localhost:8787', 'http://127.0.0.1', 'http://[::1]:1234'])('is healthy on %s', async (host) => {
    expect((await call(`${host}/healthz`, unset)).status).toBe(200)
  })

  it('is healthy once it is set, on any host where projects have none of their own', async () => {
    const bindings = { PUBLIC_ORIGIN: 'https://api.example.com/', SURFACE_TARGET: '' }
    for (const host of [ORIGIN, EVIL, 'http://localhost:8787'])
      expect((await call(`${host}/healthz`, { bindings })).status).toBe(200)
  })
})

describe('PUBLIC_ORIGIN', () => {
  it.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com/', 'https://api.example.com'],
    ['https://API.Example.com:8443', 'https://api.example.com:8443'],
    ['https://api.example.com:443', 'https://api.example.com'],
    ['http://localhost:8787', null],
    ['http://api.example.com', null],
    ['api.example.com', null],
    ['https://api.example.com/v1', null],
    ['https://api.example.com?a', null],
    ['https://api.example.com/#a', null],
    ['https://user@api.example.com', null],
    ['ftp://api.example.com', null],
    ['javascript:alert(1)', null],
    ['', null],
  ])('%s is read as %s', (text, origin) => expect(originFrom(text)).toBe(origin))

  it('that is not an origin is refused with the first request', async () => {
    const printed = captureConsole()
    const answer = await call('/healthz', { bindings: { PUBLIC_ORIGIN: 'api.example.com' } })
    expect([answer.status, answer.body.code]).toEqual([503, 'not_configured'])
    expect(printed.join('\n')).toContain('PUBLIC_ORIGIN must be like https://api.example.com')
  })
})
