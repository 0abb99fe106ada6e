import { beforeEach, describe, expect, it } from 'vitest'
import { SECOND } from '../../src/lib/time'
import { addMember, changeAccount, stripeObjects } from '../harness'
import { importWorld } from '../inbox/imports/world'
import { advance, stopClock } from '../inbox/pipeline'
import { submit, visit } from './visit'

beforeEach(() => {
  stopClock()
})

const part = (text: string) => text.split('<div id="import"')[1]?.split('<h2 id="settings"')[0] ?? ''
const CHOSEN = { kinds: 'customers,subscriptions', invoice_months: '3' }

async function newPlace() {
  const world = await importWorld(stripeObjects(150))
  const at = `/console/p/${world.project}/platform/billing/connections/${world.from}`
  const { token } = world.owner
  return { world, at, token, shown: async (by = token) => part((await visit(at, by)).text) }
}

describe('an import in the console', () => {
  it('is begun, shown with its progress by kind, canceled, and goes on', async () => {
    const { world, at, token, shown } = await newPlace()
    expect(await shown()).toContain('<summary>Start an import</summary>')
    const begun = await submit(`${at}/imports`, token, CHOSEN)
    expect([begun.status, begun.headers.get('Location')]).toEqual([303, `${at}?done=import_started`])
    const { id } = (await world.api(world.path)).body.data[0] ?? {}
    await world.fetches.EVENTS.send({ what: 'import', project_id: world.project, import_id: id })
    await world.page()
    const running = await shown()
    expect(running).toContain('<span class="badge warn">running</span>')
    expect(running).toContain('hx-trigger="every 3s"')
    expect(running).toMatch(/Customers<\/td>.*?running.*?>100<.*?>100<.*?>0</s)
    expect(running).not.toContain('Start an import')
    const canceled = await submit(`${at}/imports/${id}/cancel`, token)
    expect(canceled.headers.get('Location')).toBe(`${at}?done=import_canceled`)
    expect(await shown()).toMatch(/badge ">canceled<.*Start an import/s)
    advance(SECOND)
    await submit(`${at}/imports`, token, CHOSEN)
    const next = (await world.api(world.path)).body.data[0]?.id
    await world.fetches.EVENTS.send({ what: 'import', project_id: world.project, import_id: next })
    await world.finish(`${next}`)
    expect(await shown()).toMatch(/badge good">done<.*Customers<\/td>.*?>150</s)
  })

  it('says why it waits, and why it was not begun', async () => {
    const { world, at, token, shown } = await newPlace()
    const wrong = await submit(`${at}/imports`, token, { ...CHOSEN, invoice_months: '25' })
    expect([wrong.status, part(wrong.text)]).toEqual([422, expect.stringContaining('<details class="more-form" open')])
    await changeAccount(world.apiKey, { fail: { status: 429, retry_after: '30' } })
    await world.start()
    await world.page()
    const waiting = await shown()
    expect(waiting).toContain('The vendor limited the rate of our requests.')
    expect((await submit(`${at}/imports`, token, CHOSEN)).status).toBe(409)
  })

  it('has no forms for those who may only read', async () => {
    const { world, shown } = await newPlace()
    await world.start()
    const viewer = await addMember(world.project, 'viewer')
    const seen = await shown(viewer.token)
    expect(seen).toContain('Progress of the import')
    expect(seen).not.toContain('<form')
  })
})
