import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, iso, MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { newApi } from '../devices/devices'
import { call, freshProject, KEYS, mint, STORE } from '../harness'
import { keepHouse } from '../inbox/pipeline'
import { noticesIn, report } from './world'

/* With on_exposure: notify, a notice stays open while the exposed secret works. */

beforeEach(() => {
  stopClock()
})

const notify = (project: string, token: string) =>
  call(`/platform/v1/projects/${project}`, {
    method: 'PATCH',
    project,
    token,
    json: { settings: { on_exposure: 'notify' } },
  })

/** Whether the only notice of a project is open, after the cron has looked. */
async function isOpen(project: string): Promise<boolean> {
  await keepHouse()
  const [notice, another] = await noticesIn(project)
  if (!notice || another) throw new Error('there must be one notice')
  return notice.closed_at === null
}

describe('a device', () => {
  async function exposed(how: object = {}) {
    const { api, project, owner } = await newApi()
    await notify(project, owner.token)
    const { device, token } = (await api.register('ext:u', 'k', { platform: 'server', ...how })).body
    const rotate = async (json: object) => (await api.rotate('ext:u', device.id, json)).body.token as string
    return { api, project, device, token: token as string, rotate }
  }

  it('whose token is replaced is told of until the old one ends', async () => {
    const { project, token, rotate } = await exposed()
    await report(token)
    expect(await isOpen(project)).toBe(true)
    await rotate({ grace_s: 3600 })
    expect(await isOpen(project)).toBe(true)
    advance(HOUR)
    expect(await isOpen(project)).toBe(false)
    // The next one is another matter.
    await report(await rotate({}))
    expect(await isOpen(project)).toBe(true)
    await rotate({})
    expect(await isOpen(project)).toBe(false)
  })

  it('is told of while a token that waits is exposed, and after its first use', async () => {
    const { api, project, rotate } = await exposed()
    const waiting = await rotate({ when: 'first_use' })
    await report(waiting)
    expect(await isOpen(project)).toBe(true)
    await api.verify(waiting)
    expect(await isOpen(project)).toBe(true)
    await report(await rotate({ when: 'first_use' }))
    await rotate({ when: 'first_use' })
    expect(await isOpen(project)).toBe(true) // The first one is still the current token.
  })

  it('is told of no more when the token that waits was not used in time, or was ended', async () => {
    const late = await exposed()
    await report(await late.rotate({ when: 'first_use' }))
    advance(7 * DAY)
    expect(await isOpen(late.project)).toBe(false)
    const ended = await exposed()
    await report(await ended.rotate({ when: 'first_use' }))
    await ended.api.end('ext:u', ended.device.id, 'pending')
    expect(await isOpen(ended.project)).toBe(false)
  })

  it('is told of no more when it has expired or was revoked', async () => {
    const expiring = await exposed({ expires_at: iso(Date.now() + MINUTE) })
    await report(expiring.token)
    expect(await isOpen(expiring.project)).toBe(true)
    advance(MINUTE)
    expect(await isOpen(expiring.project)).toBe(false)
    const revoked = await exposed()
    await report(revoked.token)
    await revoked.api.revoke('ext:u', revoked.device.id)
    expect(await isOpen(revoked.project)).toBe(false)
  })

  it('whose token has no prefix is told of until it is replaced', async () => {
    const { project, device, token, rotate } = await exposed()
    await STORE.prepare('UPDATE devices SET token_prefix = NULL WHERE id = ?').bind(device.id).run()
    await report(token)
    expect(await isOpen(project)).toBe(true)
    await rotate({})
    expect(await isOpen(project)).toBe(false)
  })
})

describe('an API key', () => {
  it('of which an old secret is exposed is told of while that works', async () => {
    const { project, owner } = await freshProject()
    const { key, secret } = await mint(owner.token, project, { scopes: ['billing:read'] })
    await notify(project, owner.token)
    const rotate = (json: object) =>
      call(`${KEYS}/${key.id}/rotate`, { method: 'POST', project, token: owner.token, json })
    await rotate({ grace_s: 3600 })
    await report(secret)
    expect(await isOpen(project)).toBe(true)
    advance(HOUR)
    expect(await isOpen(project)).toBe(false)
    const waiting = (await rotate({ when: 'first_use' })).body.secret
    await report(waiting)
    expect(await isOpen(project)).toBe(true)
    advance(7 * DAY)
    expect(await isOpen(project)).toBe(false)
    await report(waiting)
    expect(await isOpen(project)).toBe(false)
  })
})
