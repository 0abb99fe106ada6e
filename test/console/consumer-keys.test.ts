import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, iso } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { as as devicesAs, newApi } from '../devices/devices'
import { addMember } from '../harness'
import { told } from './member-pages'
import { consumerTabs, formToken, submit, visit } from './visit'

/* Devices of the platform `server` are called keys on the page of a consumer. */

describe('the keys of a consumer', () => {
  let path: string
  let token: string
  let viewer: string
  let devices: ReturnType<typeof devicesAs>
  let now: number
  beforeAll(async () => {
    const { project, owner, consumer } = await newApi()
    token = owner.token
    viewer = (await addMember(project, 'viewer')).token
    devices = devicesAs(project, token)
    path = `/console/p/${project}/platform/consumers/${consumer}`
  })
  beforeEach(() => {
    now = stopClock()
  })
  const textOf = async (page = path, who = token) =>
    page === path ? consumerTabs(path, who) : (await visit(page, who)).text
  const send = (to: string, fields: Record<string, string> = {}) => told(submit(to, token, fields))
  const key = async (installation: string, fields: object = {}) =>
    (await devices.register('ext:u', installation, { platform: 'server', name: installation, ...fields })).body
  const tokenIn = (text: string) => /svc_dv_[0-9a-f]{64}/.exec(text)?.[0] ?? ''

  it('are listed apart from devices, with scopes, expiry and state', async () => {
    expect(await textOf()).not.toContain('<h2>Keys</h2>')
    await devices.register('ext:u', 'phone', { name: 'A phone' })
    const { device } = await key('export', {
      name: 'Export <b>',
      scopes: ['reports:read'],
      expires_at: iso(now + HOUR),
    })
    const text = await textOf()
    // The history, on another tab, names both.
    const [, keys = '', others = ''] = text
      .split(/<h2>(?:Keys|Devices)<\/h2>/)
      .map((part) => part.split('</section>')[0])
    expect(keys).toContain('Export &lt;b&gt;')
    for (const part of [device.token_prefix, 'reports:read', 'active', '/rotate"', '/edit"', '/revoke"']) {
      expect(keys).toContain(part)
    }
    expect([keys.includes('A phone'), others.includes('A phone'), others.includes('Export')]).toEqual([
      false,
      true,
      false,
    ])
    expect(others).toContain('2 of 100 active, keys included.')
    const seen = await textOf(path, viewer)
    expect([seen.includes('reports:read'), seen.includes('/rotate"')]).toEqual([true, false])
    advance(HOUR)
    expect((await textOf()).split('<h2>Keys</h2>')[1]).toContain('>expired<')
  })

  it('are rotated once for each question, and the token is shown once', async () => {
    const first = await key('rotated')
    const rotate = `${path}/devices/${first.device.id}/rotate`
    const question = await textOf(rotate)
    expect(question).toContain('When your customer uses it')
    const known = /name="known" value="([^"]*)"/.exec(question)?.[1] ?? ''
    const fields = { known, when: 'first_use', grace_s: '3600' }
    const page = await submit(rotate, token, fields)
    const fresh = tokenIn(page.text)
    expect([page.status, fresh]).toEqual([200, expect.stringMatching(/^svc_dv_/)])
    expect(await send(rotate, fields)).toMatchObject({
      status: 303,
      location: `${path}?tab=devices&done=device_rotated_before`,
    })
    const text = await textOf()
    expect([text.includes(`${fresh.slice(0, 11)}…${fresh.slice(-4)}`), text.includes(fresh)]).toEqual([true, false])
    expect(text).toContain('current when first used')
    expect((await devices.verify(fresh)).body.valid).toBe(true)
    advance(HOUR - 1)
    expect((await devices.verify(first.token)).body.valid).toBe(true)
    expect(await textOf()).toContain('works until')
    expect((await send(rotate, { when: 'never' })).status).toBe(422)
  })

  it('have other tokens while they are rotated, each of which can be ended', async () => {
    const first = await key('ended')
    const of = `${path}/devices/${first.device.id}`
    expect(await textOf()).not.toContain(`${of}/end-`)
    await devices.rotate('ext:u', first.device.id, { grace_s: 3600 })
    const waiting = (await devices.rotate('ext:u', first.device.id, { when: 'first_use' })).body.token
    const text = await textOf()
    expect([text.includes(`${of}/end-pending"`), text.includes(`${of}/end-previous"`)]).toEqual([true, true])
    expect(await textOf(path, viewer)).not.toContain(`${of}/end-`)
    for (const [which, name, ended] of [
      ['pending', 'new', waiting],
      ['previous', 'old', first.token],
    ] as const) {
      expect(await textOf(`${of}/end-${which}`)).toContain(`End the ${name} token of ended?`)
      expect(await send(`${of}/end-${which}`)).toMatchObject({
        location: `${path}?tab=devices&done=${which}_token_ended`,
      })
      expect((await devices.verify(ended)).body.reason).toBe('unknown')
    }
    expect(await textOf()).not.toContain(`${of}/end-`)
  })

  it('are edited: name, scopes and expiry, each only if it changes', async () => {
    const { device } = await key('edited', { scopes: ['a', 'b'], expires_at: iso(now + DAY) })
    const edit = `${path}/devices/${device.id}/edit`
    const page = await textOf(edit)
    expect(page).toContain('value="a b"')
    const done = await send(edit, { name: 'New name', scopes: 'c  a', expires: 'keep', on: '' })
    expect(done).toMatchObject({ status: 303, location: `${path}?tab=devices&done=device_changed` })
    const stored = async () => (await devices.one('ext:u', device.id)).body
    expect(await stored()).toMatchObject({ name: 'New name', scopes: ['a', 'c'], expires_at: iso(now + DAY) })
    await send(edit, { name: '', scopes: '', expires: '7', on: '' })
    expect(await stored()).toMatchObject({ name: null, scopes: [], expires_at: iso(now + 7 * DAY) })
    await send(edit, { name: '', scopes: '', expires: '', on: '' })
    expect((await stored()).expires_at).toBe(null)
    for (const wrong of [{ scopes: 'аdmin' }, { expires: 'date', on: '2020-01-01' }, { expires: 'date', on: '' }]) {
      expect((await send(edit, { name: 'x', scopes: '', expires: 'keep', on: '', ...wrong })).status).toBe(422)
    }
    expect((await stored()).name).toBe(null)
  })

  it('have metadata, which the list shows and the form changes', async () => {
    const { device } = await key('metadata', { metadata: { team: 'blue <b>', one: '1', two: '2', zone: 'eu' } })
    const text = await textOf()
    for (const shown of ['team: blue &lt;b&gt;', 'one: 1', 'and 1 more']) expect(text).toContain(shown)
    expect(text).not.toContain('zone: eu')
    const edit = `${path}/devices/${device.id}/edit`
    const page = await textOf(edit)
    expect([...page.matchAll(/name="key" value="([^"]*)"/g)].map(([, name]) => name)).toEqual([
      ...['one', 'team', 'two', 'zone'],
      ...['', '', ''],
    ])
    const save = async (pairs: [string, string][]) => {
      const form = new URLSearchParams({
        form_token: await formToken(token),
        name: 'metadata',
        scopes: '',
        expires: 'keep',
      })
      for (const [name, value] of pairs) {
        form.append('key', name)
        form.append('value', value)
      }
      return visit(edit, token, { form })
    }
    const stored = async () => (await devices.one('ext:u', device.id)).body.metadata
    expect(
      (
        await save([
          ['team', 'red'],
          ['', ''],
          ['plan', 'a\r\nb'],
        ])
      ).status,
    ).toBe(303)
    expect(await stored()).toEqual({ plan: 'a\nb', team: 'red' })
    for (const wrong of [
      [['', 'x']],
      [
        ['a', '1'],
        ['a', '2'],
      ],
      [['a', 'x'.repeat(1024)]],
    ] as [string, string][][]) {
      const refused = await save(wrong)
      expect([refused.status, refused.text.includes('class="wrong"')]).toEqual([422, true])
    }
    expect(await stored()).toEqual({ plan: 'a\nb', team: 'red' })
    await save([['', '']])
    expect(await stored()).toEqual({})
  })

  it('are revoked after a question that names them so', async () => {
    const { device, token: secret } = await key('revoked')
    const revoke = `${path}/devices/${device.id}/revoke`
    expect(await textOf(revoke)).toContain('Revoke key')
    expect((await send(revoke)).status).toBe(303)
    expect((await devices.verify(secret)).body.reason).toBe('revoked')
    expect((await visit(`${path}/devices/${device.id}/edit`, token)).status).toBe(200)
    expect((await send(`${path}/devices/${device.id}/rotate`)).status).toBe(409)
  })
})
