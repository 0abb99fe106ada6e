import { beforeEach, describe, expect, it } from 'vitest'
import { HOUR } from '../../src/lib/time'
import { MAX_DEVICE_NOTICES } from '../../src/notices/limits'
import { advance, stopClock } from '../clock'
import { newApi } from '../devices/devices'
import { call, freshKey, KEYS, mailbox, STORE } from '../harness'
import { cron, keepHouse } from '../inbox/pipeline'
import { insertNotice } from '../notices/world'
import { logged, noticesIn, report } from './world'

/* With on_exposure: notify, another secret of a device or a key is exposed while the notice about the first one is open. */

beforeEach(async () => {
  stopClock(Date.parse('2026-11-27T12:00:00Z'))
  await STORE.prepare('UPDATE notices SET mail_due_at = NULL').run()
})

const choose = (project: string, token: string, on_exposure: string) =>
  call(`/platform/v1/projects/${project}`, { method: 'PATCH', project, token, json: { settings: { on_exposure } } })

/** What a minute of the cron mails. */
async function mailed(): Promise<string[]> {
  const { EMAIL, mails } = mailbox()
  await cron({ EMAIL, SIGN_IN_DELIVERY: 'email' })
  return mails.map(({ text }) => text)
}

async function device() {
  const { api, project, owner } = await newApi()
  const { device, token } = (await api.register('ext:u', 'k', { platform: 'server' })).body
  const rotate = async (json: object) => (await api.rotate('ext:u', device.id, json)).body.token as string
  return { project, owner, id: device.id as string, secret: token as string, rotate }
}

async function key() {
  const { project, owner, key, secret } = await freshKey()
  const rotate = async (json: object) =>
    (await call(`${KEYS}/${key.id}/rotate`, { method: 'POST', project, token: owner.token, json })).body
      .secret as string
  return { project, owner, id: key.id as string, secret, rotate }
}

const shown = (secret: string) => `${secret.slice(0, 11)}…${secret.slice(-4)}`

describe.each([
  ['a device', device, 'device.exposed'],
  ['an API key', key, 'api_key.exposed'],
] as const)('of %s', (_, make, action) => {
  it('each secret is told of once, in an email of its own, whatever the order of the reports', async () => {
    const { project, owner, id, secret, rotate } = await make()
    await choose(project, owner.token, 'notify')
    const waiting = await rotate({ when: 'first_use' })
    for (const one of [secret, waiting]) {
      await report(one)
      const [text, another] = await mailed()
      expect([text?.includes(shown(one)), another]).toEqual([true, undefined])
    }
    const third = await rotate({ when: 'first_use' })
    await report(third)
    expect((await mailed())[0]).toContain(shown(secret))
    for (const one of [waiting, secret, third, secret]) {
      await report(one)
      expect(await mailed()).toEqual([])
    }
    expect((await logged(id)).map(([what]) => what)).toEqual([action, action, action])
    expect(await noticesIn(project)).toHaveLength(1)
  })

  it('the notice stays open while one of them works', async () => {
    const { project, owner, secret, rotate } = await make()
    await choose(project, owner.token, 'notify')
    await report(secret)
    await report(await rotate({ when: 'first_use' }))
    await rotate({ when: 'first_use' })
    await keepHouse()
    expect(await noticesIn(project)).toMatchObject([{ closed_at: null }])
    await rotate({ grace_s: 3600 })
    advance(HOUR)
    await keepHouse()
    expect(await noticesIn(project)).toMatchObject([{ closed_at: Date.now() }])
  })

  it('what comes back after the notice was closed names no secret from before', async () => {
    const { project, owner, secret, rotate } = await make()
    await choose(project, owner.token, 'notify')
    await report(secret)
    await report(await rotate({}))
    expect(await mailed()).toHaveLength(1)
    await rotate({})
    await keepHouse()
    const third = await rotate({})
    await report(third)
    // Another secret is mailed however soon it comes after the ones before.
    const [mail] = await mailed()
    expect(mail).toContain(shown(third))
    const [notice] = await noticesIn(project)
    expect([notice?.closed_at, notice?.facts.earlier]).toEqual([null, undefined])
  })

  it('is told of again when it is ended after all', async () => {
    const { project, owner, id, secret } = await make()
    await choose(project, owner.token, 'notify')
    await report(secret)
    expect((await mailed())[0]).toContain('It still works')
    await choose(project, owner.token, 'revoke')
    await report(secret)
    const [mail] = await mailed()
    expect(mail).toContain('It was revoked')
    expect(mail).not.toContain('reported earlier')
    await report(secret)
    expect(await mailed()).toEqual([])
    expect(await logged(id)).toHaveLength(2)
  })

  it('is reported even if there is no room for another notice', async () => {
    const { project, owner, id, secret, rotate } = await make()
    await choose(project, owner.token, 'notify')
    await report(secret)
    const facts = '{"object":"device","ended":true}'
    for (let i = 1; i < 200; i++)
      await insertNotice(project, i <= MAX_DEVICE_NOTICES ? { kind: 'key_exposed', facts } : {})
    const other = await rotate({ when: 'first_use' })
    await report(other)
    expect(await logged(id)).toHaveLength(2)
    const told = (await noticesIn(project)).find(({ object_id }) => object_id === id)
    expect(JSON.stringify(told?.facts)).toContain(shown(other))
  })
})
