import { beforeEach, describe, expect, it } from 'vitest'
import { MINUTE, SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { call, DIRECTORY, ORIGIN, STORE } from '../harness'
import {
  APP,
  arrived,
  authenticate,
  comeBack,
  customersWorld,
  newDomain,
  open,
  type SignedIn,
  verifiedDomain,
} from './customers'

beforeEach(() => {
  stopClock()
})

/** Ada, at this domain, as a provider says. */
const ada = (domain: string) => ({
  subject: 'ada-1',
  email: `Ada@${domain}`,
  email_verified: true,
  name: 'Ada Lovelace',
})

describe('a sign-in', () => {
  it('leads from the address to the provider, back to the application, and to a consumer', async () => {
    const domain = newDomain()
    const { authorize, token, connection, consumers } = await customersWorld({ domains: [domain] })
    const { status, body } = await authorize({ login_hint: 'ada' })
    expect(status).toBe(201)
    expect(body).toEqual({
      url: expect.stringMatching(new RegExp(`^${ORIGIN}/sso/login/slg_`)),
      expires_at: new Date(Date.now() + 10 * MINUTE).toISOString(),
    })
    const at = await open(body.url)
    expect(at.provider.searchParams.get('login_hint')).toBe('ada')
    const answer = await comeBack(at, ada(domain))
    expect(answer.headers.get('Cache-Control')).toContain('no-store')
    const { code, ...rest } = arrived(answer)
    expect(rest).toEqual({ from: 'us', state: 'st-1' })
    expect(code).toMatch(/^[0-9a-f]{64}$/)

    const first = await token(code ?? '')
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({
      created: true,
      consumer: { email: `ada@${domain}`, name: 'Ada Lovelace', state: 'active', external_ids: [] },
      identity: {
        connection_id: connection.id,
        issuer: connection.issuer,
        subject: 'ada-1',
        email: `Ada@${domain}`,
        email_verified: true,
        authenticated_at: new Date().toISOString(),
      },
    })
    const { body: read } = await consumers.get((first.body as unknown as SignedIn).consumer.id)
    expect(read).toMatchObject({ email: `ada@${domain}` })
  })

  it('is bound to its browser by a cookie that no script and no other host can read', async () => {
    const { authorize } = await customersWorld()
    const { headers } = await call((await authorize()).body.url)
    expect(headers.get('Set-Cookie')).toMatch(
      /^__Host-sso=[0-9a-f]{64}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    )
  })

  it('works with a certified provider', async () => {
    const { signIn } = await customersWorld({ provider: 'certified.dev' })
    const person = { subject: 'ada', email: 'ada@acme.dev', email_verified: true, name: 'Ada' }
    expect(await signIn(person)).toMatchObject({
      created: true,
      identity: person,
    })
    expect(await signIn(person)).toMatchObject({ created: false })
  })

  it('finds the consumer again, whatever the address is then', async () => {
    const domain = newDomain()
    const { signIn } = await customersWorld({ domains: [domain] })
    const first = await signIn(ada(domain))
    advance(SECOND)
    const again = await signIn({ ...ada(domain), email: 'other@elsewhere.dev', email_verified: false })
    expect(again).toMatchObject({ created: false, identity: { id: first.identity.id, email: 'other@elsewhere.dev' } })
    expect(again.consumer).toEqual(first.consumer)
  })

  it('begins with an email address whose domain the project holds', async () => {
    const domain = newDomain()
    const { authorize, project } = await customersWorld({ domains: [domain] })
    const { status, body } = await authorize({ connection_id: undefined, email: `Ada@${domain.toUpperCase()}` })
    expect(status).toBe(201)
    expect((await open(body.url)).provider.searchParams.get('login_hint')).toBe(`Ada@${domain.toUpperCase()}`)
    await DIRECTORY.prepare("UPDATE domains SET state = 'failed', next_check_at = NULL WHERE project_id = ?")
      .bind(project)
      .run()
    expect(await authorize({ connection_id: undefined, email: `ada@${domain}` })).toMatchObject({ status: 404 })
  })

  it('begins at the host of the surface while the project holds it', async () => {
    const { authorize, project, connection } = await customersWorld()
    const surface = newDomain()
    const id = await verifiedDomain(project, surface, 'surface')
    await DIRECTORY.prepare("UPDATE sso_connections SET settings = json_set(settings, '$.surface_id', ?) WHERE id = ?")
      .bind(id, connection.id)
      .run()
    expect((await authorize()).body.url).toMatch(new RegExp(`^https://${surface}/sso/login/slg_`))
    await DIRECTORY.prepare("UPDATE domains SET state = 'failed', next_check_at = NULL WHERE id = ?").bind(id).run()
    expect((await authorize()).body.url).toMatch(new RegExp(`^${ORIGIN}/sso/login/slg_`))
  })

  it("is not served by another project's host, nor is the team's by the project's own", async () => {
    const { authorize, project } = await customersWorld()
    const other = await customersWorld()
    const [own, foreign] = [newDomain(), newDomain()]
    await verifiedDomain(project, own, 'surface')
    await verifiedDomain(other.project, foreign, 'surface')
    const linkAt = async (host: string) => {
      const { pathname } = new URL((await authorize()).body.url)
      return { id: pathname.split('/').at(-1), answer: () => call(`https://${host}${pathname}`) }
    }
    const there = await linkAt(own)
    expect((await there.answer()).status).toBe(302)
    expect((await (await linkAt(foreign)).answer()).status).toBe(400)
    const team = await linkAt(own)
    await DIRECTORY.prepare("UPDATE sso_logins SET mode = 'team' WHERE id = ?").bind(team.id).run()
    expect((await team.answer()).status).toBe(400)
  })

  const REFUSED: [string, Parameters<typeof customersWorld>[0], object, number, string][] = [
    ['another address', {}, { redirect_uri: 'https://evil.dev/' }, 422, 'validation_failed'],
    ['an address with more behind it', {}, { redirect_uri: `${APP}&more=1` }, 422, 'validation_failed'],
    ['an address in other letters', {}, { redirect_uri: APP.replace('app.', 'APP.') }, 422, 'validation_failed'],
    ['a connection and an address', {}, { email: 'a@acme.dev' }, 422, 'validation_failed'],
    ['neither', {}, { connection_id: undefined }, 422, 'validation_failed'],
    ['a connection that is no id', {}, { connection_id: 'con_1' }, 422, 'validation_failed'],
    ['an unknown connection', {}, { connection_id: 'sso_01kc5rb2c4d6e8f0g1h3j5k7m9' }, 404, 'not_found'],
    ['a domain of nobody', {}, { connection_id: undefined, email: 'a@nobody.dev' }, 404, 'not_found'],
    ['a connection of the team', { audience: 'team' }, {}, 404, 'not_found'],
    ['a draft', { state: 'draft' }, {}, 409, 'connection_inactive'],
    ['a disabled connection', { state: 'disabled' }, {}, 409, 'connection_inactive'],
  ]
  it.each(REFUSED)('does not begin with %s', async (_, fields, json, status, code) => {
    const { authorize } = await customersWorld(fields)
    expect(await authorize(json)).toMatchObject({ status, body: { code } })
  })

  it('does not begin with a connection of another project', async () => {
    const [{ authorize }, other] = [await customersWorld(), await customersWorld()]
    expect(await authorize({ connection_id: other.connection.id })).toMatchObject({ status: 404 })
  })
})

describe('a code', () => {
  it('works once', async () => {
    const { arrive, token } = await customersWorld()
    const { code = '' } = await arrive({ subject: 's' })
    const both = await Promise.all([token(code), token(code)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400])
    expect(await token(code)).toMatchObject({
      status: 400,
      body: { code: 'invalid_grant', detail: expect.stringContaining('already been used') },
    })
  })

  it('works for 60 seconds, for its project and its address, which a wrong one does not use up', async () => {
    const { arrive, token } = await customersWorld()
    const other = await customersWorld()
    const { code = '' } = await arrive({ subject: 's' })
    const refused = (detail: string) => ({
      status: 400,
      body: { code: 'invalid_grant', detail: expect.stringContaining(detail) },
    })
    expect(await other.token(code)).toMatchObject(refused('does not belong to this project'))
    expect(await token(code, { redirect_uri: 'https://evil.dev/' })).toMatchObject(refused('another redirect_uri'))
    expect(await token(`${code}0`)).toMatchObject(refused('does not belong'))
    advance(60 * SECOND)
    expect(await token(code)).toMatchObject(refused('expired'))
    const { code: second = '' } = await arrive({ subject: 's' })
    advance(60 * SECOND - 1)
    expect(await token(second)).toMatchObject({ status: 200 })
  })

  it('takes the secret of its challenge, and no other, if it has one', async () => {
    const world = await customersWorld()
    // RFC 7636, appendix B.
    const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
    const codeOf = async (json: object) => (await world.arrive({ subject: 'ada' }, json)).code ?? ''
    const bound = await codeOf({ code_challenge: challenge })
    for (const json of [{}, { code_verifier: challenge }, { code_verifier: `${verifier}x` }]) {
      const refused = await world.token(bound, json)
      expect([refused.status, refused.body.code]).toEqual([400, 'invalid_grant'])
      expect(refused.body.detail).toContain('code_verifier')
    }
    expect((await world.token(bound, { code_verifier: verifier })).status).toBe(200)
    expect((await world.token(bound, { code_verifier: verifier })).status).toBe(400)
    const free = await codeOf({})
    expect((await world.token(free, { code_verifier: verifier })).status).toBe(400)
    expect((await world.token(free)).status).toBe(200)
  })

  it.each([
    [{ state: undefined }, '/state'],
    [{ state: '' }, '/state'],
    [{ code_challenge: '' }, '/code_challenge'],
    [{ code_challenge: 'plain' }, '/code_challenge'],
    [{ code_challenge: `${'A'.repeat(43)}=` }, '/code_challenge'],
    [{ code_challenge_method: 'plain' }, '/code_challenge_method'],
  ])('begins with a state, and a challenge by S256 alone: %j', async (json, pointer) => {
    const { status, body } = await (await customersWorld()).authorize(json)
    expect([status, body.errors?.map((error) => error.pointer)]).toEqual([422, [pointer]])
  })

  it('is not exchanged for a consumer that was blocked or erased since', async () => {
    for (const [end, detail] of [
      ['block', 'consumer_blocked'],
      ['erase', 'consumer_erased'],
    ] as const) {
      const { arrive, signIn, token, consumers } = await customersWorld()
      const { consumer } = await signIn({ subject: 's' })
      const { code = '' } = await arrive({ subject: 's' })
      await consumers[end](consumer.id)
      const answer = await token(code)
      expect(answer, end).toMatchObject({ status: 400, body: { code: 'invalid_grant' } })
      expect(answer.body.detail).toContain(detail)
    }
  })
})

describe('who it is', () => {
  const domain = newDomain()
  type World = Awaited<ReturnType<typeof customersWorld>>
  const put = async ({ consumers }: World, id: string, email: string) => (await consumers.put(id, { email })).body.id

  it('is the one active consumer with the address, without regard to case', async () => {
    const world = await customersWorld({ domains: [domain], settings: { create_consumers: false } })
    const id = await put(world, 'u1', `ADA@${domain}`)
    const merged = await put(world, 'u2', `ada@${domain}`)
    await world.consumers.merge(merged, id)
    expect(await world.signIn(ada(domain))).toMatchObject({ created: false, consumer: { id, external_id: 'u1' } })
  })

  const STRANGERS: [string, (world: World) => Promise<unknown>, object][] = [
    ['an address that is not verified', async () => {}, { email_verified: false }],
    ['an address of another domain', async () => {}, { email: 'ada@acme.dev' }],
    ['an address of a subdomain', async () => {}, { email: `ada@a.${domain}` }],
    ['an address that is none', async () => {}, { email: 'ada' }],
    [
      'a domain that is no longer verified',
      ({ project }) =>
        DIRECTORY.prepare("UPDATE domains SET state = 'failed', next_check_at = NULL WHERE project_id = ?")
          .bind(project)
          .run(),
      {},
    ],
    [
      'a domain of another connection of the project',
      ({ project }) =>
        DIRECTORY.prepare("UPDATE sso_connection_domains SET connection_id = 'sso_other' WHERE project_id = ?")
          .bind(project)
          .run(),
      {},
    ],
    ['two consumers with the address', (world) => put(world, 'u2', `ada@${domain}`), {}],
  ]
  it.each(STRANGERS)('is somebody new with %s', async (_, prepare, person) => {
    const world = await customersWorld({ domains: [domain] })
    const id = await put(world, 'u1', `ada@${domain}`)
    await prepare(world)
    const { consumer, created } = await world.signIn({ ...ada(domain), ...person })
    expect([created, consumer.id === id]).toEqual([true, false])
    await DIRECTORY.prepare('DELETE FROM domains WHERE project_id = ?').bind(world.project).run()
  })

  it('never gives a consumer an address that nobody has verified: its owner would be linked to a stranger', async () => {
    const world = await customersWorld({ domains: [domain] })
    const stranger = await world.signIn({ ...ada(domain), subject: 'mallory', email_verified: false })
    expect(stranger.consumer.email).toBeNull()
    const { consumer, created } = await world.signIn(ada(domain))
    expect([created, consumer.id === stranger.consumer.id]).toEqual([true, false])
  })

  it.each<[string, object, (world: World) => Promise<unknown>, string]>([
    ['nobody, and none is created', { create_consumers: false }, async () => {}, 'no_consumer'],
    [
      'blocked, by the address',
      {},
      async (world) => world.consumers.block(await put(world, 'u1', `ada@${domain}`)),
      'consumer_blocked',
    ],
    [
      'blocked, by the identity',
      {},
      async (world) => world.consumers.block((await world.signIn(ada(domain))).consumer.id),
      'consumer_blocked',
    ],
  ])('is refused as %s', async (_, settings, prepare, reason) => {
    const world = await customersWorld({ domains: [domain], settings })
    await prepare(world)
    const { error, error_description, state, code } = await world.arrive(ada(domain))
    expect({ error, state, code }).toEqual({ error: 'access_denied', state: 'st-1', code: undefined })
    expect(error_description).toMatch(new RegExp(`^${reason}: `))
    await DIRECTORY.prepare('DELETE FROM domains WHERE project_id = ?').bind(world.project).run()
  })

  it('is the survivor after a merge', async () => {
    const { signIn, consumers } = await customersWorld()
    const { consumer } = await signIn({ subject: 's' })
    const { body: into } = await consumers.put('kept')
    await consumers.merge(consumer.id, into.id)
    expect(await signIn({ subject: 's' })).toMatchObject({ created: false, consumer: { id: into.id } })
    await consumers.erase(into.id)
    const { results } = await DIRECTORY.prepare('SELECT id FROM sso_identities WHERE consumer_id = ?')
      .bind(consumer.id)
      .all()
    expect(results).toEqual([])
  })

  it('is one consumer, however many first sign-ins there are at once', async () => {
    const { authorize, exchange, project } = await customersWorld({ domains: [domain] })
    const at = await Promise.all(Array.from({ length: 5 }, async () => open((await authorize()).body.url)))
    const back: URL[] = []
    for (const one of at) back.push(await authenticate(one, ada(domain)))
    const answers = await Promise.all(
      back.map(({ href }, i) => call(href, { headers: { Cookie: at[i]?.cookie ?? '' } })),
    )
    const codes = answers.map((answer) => arrived(answer).code ?? '')
    const learned = await Promise.all(codes.map(exchange))
    expect(new Set(learned.map(({ consumer }) => consumer.id)).size).toBe(1)
    expect(learned.filter(({ created }) => created)).toHaveLength(1)
    const { results } = await STORE.prepare('SELECT id FROM consumers WHERE project_id = ?').bind(project).all()
    expect(results).toHaveLength(1)
  })
})

describe('nobody is signed in', () => {
  it('by a state that was used, at the address of another connection, or in another browser', async () => {
    const [{ authorize }, other] = [await customersWorld(), await customersWorld()]
    const at = await open((await authorize()).body.url)
    const back = await authenticate(at, { subject: 's' })
    const mixed = back.href.replace(/callback\/\w+/, `callback/${other.connection.id}`)
    const none = { status: 400, location: null }
    const visit = async (href: string, cookie: string) => {
      const { status, headers } = await call(href, { headers: { Cookie: cookie } })
      return { status, location: headers.get('Location') }
    }
    expect(await visit(mixed, at.cookie)).toEqual(none)
    expect(await visit(back.href, '')).toEqual(none)
    expect(await visit(back.href, `__Host-sso=${'0'.repeat(64)}`)).toEqual(none)
    expect(await visit(back.href, at.cookie)).toMatchObject({ status: 303 })
    expect(await visit(back.href, at.cookie)).toEqual(none)
  })

  it('by a link that another browser has opened before, or at the host of another origin', async () => {
    const { authorize, project } = await customersWorld()
    const { url } = (await authorize()).body
    const first = await open(url)
    const second = await call(url)
    expect([second.status, second.headers.get('Location')]).toEqual([400, null])
    const surface = newDomain()
    await verifiedDomain(project, surface, 'surface')
    const back = await authenticate(first, { subject: 's' })
    // The cookie is the deployment's own: a browser does not send it to the project's host.
    const elsewhere = await call(`https://${surface}${back.pathname}${back.search}`)
    expect([elsewhere.status, elsewhere.headers.get('Location')]).toEqual([400, null])
    expect((await call(back.href, { headers: { Cookie: first.cookie } })).status).toBe(303)
  })

  it('when the connection has been disabled since, or the address was taken away', async () => {
    const { authorize, connection } = await customersWorld()
    const [disabled, unregistered] = [
      await open((await authorize()).body.url),
      await open((await authorize()).body.url),
    ]
    const set = (sql: string) =>
      DIRECTORY.prepare(`UPDATE sso_connections SET ${sql} WHERE id = ?`).bind(connection.id).run()
    await set("state = 'disabled'")
    expect(arrived(await comeBack(disabled, { subject: 's' })).error_description).toMatch(/^connection_inactive: /)
    await set("state = 'active', settings = json_set(settings, '$.redirect_uris', json('[]'))")
    const { status, headers } = await comeBack(unregistered, { subject: 's' })
    expect([status, headers.get('Location')]).toEqual([400, null])
  })
})
