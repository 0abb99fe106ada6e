import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, iso, MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { as, newApi, setLimit } from '../devices/devices'
import { submit, visit } from './visit'

/* What the page of a consumer shows of keys and devices, case by case, and what its forms do. */

let made: Awaited<ReturnType<typeof newApi>>
let api: ReturnType<typeof as>
let at: string
let token: string
beforeAll(async () => {
  made = await newApi()
  token = made.owner.token
  api = as(made.project, made.secret)
})
let now: number
let consumer = 0
/** A consumer of its own, so that its page has what the test made. */
beforeEach(async () => {
  now = stopClock()
  consumer += 1
  const { body } = await api.consumer(`c${consumer}`)
  at = `/console/p/${made.project}/platform/consumers/${body.id}`
})

const register = async (installation: string, fields: object = {}) =>
  (await api.register(`ext:c${consumer}`, installation, fields)).body
const plain = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
const text = async (path = '?tab=devices') => (await visit(`${at}${path}`, token)).text
/** The tables of keys and of devices, as text by row. */
async function tables() {
  const html = await text()
  const of = (name: string) => {
    const [, table = ''] = new RegExp(`<h2>${name}</h2>(.*?)</table>`, 's').exec(html) ?? []
    return table.split('<tr').slice(2).map(plain)
  }
  return { keys: of('Keys'), devices: of('Devices') }
}

describe('names', () => {
  it.each([
    ['ios', {}, 'iOS device', 'iOS'],
    ['android', { os_version: '17' }, 'Android device', 'Android 17'],
    ['web', { model: 'M' }, ' M ', 'Web'],
    ['web', { model: 'M', name: 'N' }, ' N ', 'Web'],
  ])('a device of %s with %j', async (platform, fields, name, shown) => {
    await register('i', { platform, app_version: '2.4', ...fields })
    const [row] = (await tables()).devices
    for (const part of [name, shown, '2.4', ' i ', 'active']) expect(row).toContain(part)
  })

  it.each([
    [{}, 'Key'],
    [{ model: 'M' }, ' M '],
    [{ model: 'M', name: 'N' }, ' N '],
  ])('a key with %j', async (fields, name) => {
    const { device } = await register('i', { platform: 'server', ...fields })
    const [row] = (await tables()).keys
    for (const part of [name, device.token_prefix, 'never']) expect(row).toContain(part)
    expect((await tables()).devices).toEqual([])
  })
})

describe('keys', () => {
  it('are expired from the moment at which they end, and revoked whatever their end', async () => {
    const { device } = await register('i', { platform: 'server', expires_at: iso(now + MINUTE) })
    const state = async () => /(active|expired|revoked)/.exec((await tables()).keys[0] ?? '')?.[1]
    advance(MINUTE - 1)
    expect(await state()).toBe('active')
    advance(1)
    expect(await state()).toBe('expired')
    expect(await text()).toContain(`devices/${device.id}/rotate"`)
    await api.revoke(`ext:c${consumer}`, device.id)
    expect(await state()).toBe('revoked')
    expect(await text()).not.toContain(`devices/${device.id}/`)
  })

  it.each([
    [3, null],
    [4, 'and 1 more'],
  ])('show three entries of %i of metadata: %s', async (n, more) => {
    const metadata = Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, `v${i}`]))
    await register('i', { platform: 'server', metadata })
    const [row] = (await tables()).keys
    expect([row?.includes('k2: v2'), row?.includes('k3'), /and \d+ more/.exec(row ?? '')?.[0] ?? null]).toEqual([
      true,
      false,
      more,
    ])
  })

  it('show each other token as long as it is valid, and when the old one was used', async () => {
    const { device, token: old } = await register('i', { platform: 'server' })
    await api.rotate(`ext:c${consumer}`, device.id, { grace_s: 3_600 })
    await api.rotate(`ext:c${consumer}`, device.id, { when: 'first_use' })
    const row = async () => (await tables()).keys[0] ?? ''
    expect(await row()).toMatch(/New: .*becomes current when first used, or expires at .*Replaced: .*works until/)
    expect(await row()).not.toContain('last used at')
    await api.verify(old)
    expect(await row()).toContain('last used at')
    advance(HOUR)
    expect([(await row()).includes('Replaced:'), (await row()).includes('New:')]).toEqual([false, true])
    const begun = 'Another rotation is still waiting for its new token to be used'
    expect(await text(`/devices/${device.id}/rotate`)).toContain(begun)
    await api.end(`ext:c${consumer}`, device.id, 'pending')
    expect([(await row()).includes('New:'), (await text(`/devices/${device.id}/rotate`)).includes(begun)]).toEqual([
      false,
      false,
    ])
  })

  it('keep their end unless another one is chosen, which may be later', async () => {
    const { device } = await register('i', { platform: 'server', expires_at: iso(now + HOUR) })
    const path = `${at}/devices/${device.id}/edit`
    const fields = { name: 'k', scopes: '', on: '' }
    const tomorrow = iso(now + DAY).slice(0, 10)
    for (const [sent, end] of [
      [{ expires: 'keep' }, iso(now + HOUR)],
      [{ expires: '30' }, iso(now + 30 * DAY)],
      [{ expires: 'date', on: tomorrow }, `${tomorrow}T23:59:59.999Z`],
      [{ expires: '' }, null],
    ] as const) {
      expect((await submit(path, token, { ...fields, ...sent })).status).toBe(303)
      expect((await api.one(`ext:c${consumer}`, device.id)).body.expires_at).toBe(end)
    }
    expect((await submit(path, token, { ...fields, expires: 'keep', on: tomorrow })).status).toBe(422)
    expect(await text(`/devices/${device.id}/edit`)).toContain('It never expires.')
  })
})

describe('the number of devices', () => {
  it('is shown with the limit, and says when there are more than that', async () => {
    await register('a')
    await register('b', { platform: 'server' })
    const [gone] = [(await register('c')).device]
    await api.revoke(`ext:c${consumer}`, gone.id)
    const over = 'That is over the limit.'
    for (const [limit, isOver] of [
      [2, false],
      [1, true],
    ] as const) {
      await setLimit(made.project, token, limit)
      const page = plain(await text())
      expect([page.includes(`2 of ${limit} active, keys included.`), page.includes(over)]).toEqual([true, isOver])
    }
    await setLimit(made.project, token, 100)
  })
})

it.each([
  ['server', 'Revoke key', 'All of its tokens stop', false],
  ['ios', 'Revoke device', 'Its token stops', true],
])('a device of %s is revoked after a question in its own words: %s', async (platform, verb, says, again) => {
  const { device, token: secret } = await register('i', { platform })
  const path = `/devices/${device.id}/revoke`
  const asked = await text(path)
  expect([asked.includes(verb), asked.includes(says), asked.includes('new_token')]).toEqual([true, true, again])
  const done = await submit(`${at}${path}`, token)
  expect([done.status, done.headers.get('Location')]).toEqual([303, `${at}?tab=devices&done=device_revoked`])
  expect((await api.verify(secret)).body.reason).toBe('revoked')
})
