import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { addMember, mailbox } from '../harness'
import { cron } from '../inbox/pipeline'
import { actionsOf, type as, forgetCheck, newApi, newName, publish, texts, verified, zone } from './domains'

/* Whoever proves a name now has it. */

type Api = ReturnType<typeof as>
type Added = Awaited<ReturnType<Api['add']>>['body']
let apis: Api[]
let first: string
let owner: string
beforeAll(async () => {
  const made = await Promise.all([newApi(), newApi(), newApi()])
  apis = made.map(({ api }) => api)
  ;[first = ''] = made.map(({ project }) => project)
  ;[owner = ''] = made.map(({ owner }) => owner.email)
})
beforeEach(() => void stopClock())

/** The first project holds a name, and the others have added it. */
async function contested(purpose: 'sso' | 'surface', claimants = 1) {
  const [holder, ...others] = apis as [Api, ...Api[]]
  const held = await verified(holder, purpose)
  const claims: (Added & { api: Api })[] = []
  for (const api of others.slice(0, claimants)) claims.push({ api, ...(await api.add(held.hostname, purpose)).body })
  const stateOf = async (api: Api, id: string) => (await api.get(id)).body.state
  const states = () => Promise.all([stateOf(holder, held.id), ...claims.map(({ api, id }) => stateOf(api, id))])
  return { holder, held, claims, claim: claims[0] as (typeof claims)[number], states }
}

describe.each(['sso', 'surface'] as const)('for %s', (purpose) => {
  it('the holder loses it at once where only the other record is there, and is told', async () => {
    const admin = await addMember(first, 'admin')
    await addMember(first, 'developer')
    const { held, claim, states } = await contested(purpose)
    await publish(claim)
    const { EMAIL, mails } = mailbox()
    const bindings = { EMAIL, SIGN_IN_DELIVERY: 'email' }
    expect(await claim.api.verify(claim.id, { bindings })).toMatchObject({ status: 200, body: { state: 'verified' } })
    expect(await states()).toEqual(['failed', 'verified'])
    expect(await actionsOf(held.id)).toEqual(['domain.added', 'domain.taken_over', 'domain.verified'])
    expect(mails.map(({ to }) => to)).toEqual(expect.arrayContaining([owner, admin.email]))
    expect(mails.every(({ text }) => text.includes(`/settings/domains/${held.id}`))).toBe(true)
  })

  it('nothing happens while nobody answers', async () => {
    const { claim, states } = await contested(purpose)
    await zone(claim.hostname, { rcode: 'SERVFAIL' })
    expect((await claim.api.verify(claim.id)).body).toMatchObject({ state: 'pending' })
    expect(await states()).toEqual(['verified', 'pending'])
  })

  it('the cron does it too', async () => {
    const { claim, states } = await contested(purpose)
    await publish(claim)
    advance(MINUTE)
    await cron()
    expect(await states()).toEqual(['failed', 'verified'])
  })

  it('the holder of another name in the same run of the cron loses nothing', async () => {
    const { states } = await contested(purpose)
    const third = apis[2] as Api
    const { body } = await third.add(newName(), purpose)
    await publish(body)
    advance(MINUTE)
    await cron()
    expect([(await third.get(body.id)).body.state, ...(await states())]).toEqual(['verified', 'verified', 'pending'])
  })

  it('a holder that is in grace has it no longer than until another project proves it', async () => {
    const { holder, held, claim, states } = await contested(purpose)
    await zone(held.hostname, texts())
    for (let days = 0; days < 3; days++) {
      advance(DAY)
      await holder.verify(held.id)
    }
    expect(await states()).toEqual(['grace', 'pending'])
    await publish(claim)
    await claim.api.verify(claim.id)
    expect(await states()).toEqual(['failed', 'verified'])
  })
})

it('a surface stays with its holder while both records are there', async () => {
  const { held, claim, states } = await contested('surface')
  await publish(held, claim)
  expect(await claim.api.verify(claim.id)).toMatchObject({ status: 409, body: { code: 'hostname_in_use' } })
  expect((await claim.api.get(claim.id)).body).toMatchObject({ state: 'pending', records: [{ status: 'found' }] })
  advance(HOUR)
  await cron()
  expect(await states()).toEqual(['verified', 'pending'])
})

it('an email domain has as many holders as have records', async () => {
  const { held, claims, states } = await contested('sso', 2)
  await publish(held, ...claims)
  for (const { api, id } of claims) expect((await api.verify(id)).body.state).toBe('verified')
  expect(await states()).toEqual(['verified', 'verified', 'verified'])
})

it('of three projects that want a surface, the one with the record gets it', async () => {
  const { held, claims, states } = await contested('surface', 2)
  const [second, third] = claims as [(typeof claims)[number], (typeof claims)[number]]
  await publish(third)
  const both = await Promise.all([second.api.verify(second.id), third.api.verify(third.id)])
  expect(both.map(({ body }) => body.state)).toEqual(['pending', 'verified'])
  expect(await states()).toEqual(['failed', 'pending', 'verified'])
  await publish(held, second, third)
  await forgetCheck(second.id)
  expect((await second.api.verify(second.id)).status).toBe(409)
})

it('of two claimants with a record each who depose one holder, one succeeds', async () => {
  const { claims, states } = await contested('surface', 2)
  await publish(...claims)
  const both = await Promise.all(claims.map(({ api, id }) => api.verify(id)))
  expect(both.filter(({ body }) => body.state === 'verified').length).toBeLessThanOrEqual(1)
  const all = await states()
  expect(all.filter((state) => state === 'verified')).toHaveLength(1)
})
