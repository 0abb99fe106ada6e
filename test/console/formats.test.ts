import { expect, it } from 'vitest'
import { type Fields, type Shape, stripeEventOf, stripeInvoice, stripeSubscription } from '../billing/payloads'
import { stopClock } from '../clock'
import { addMember, call } from '../harness'
import { formatWorld } from '../inbox/formats/world'
import { visit } from './visit'

const [OLD, NEW] = ['2020-03-02', '2026-03-25.dahlia'] as const
const subscriptions = (n: number, fields: Fields, shape: Shape) =>
  Array.from({ length: n }, () =>
    stripeEventOf('customer.subscription.updated', stripeSubscription(fields, shape), { shape }),
  )

it('the page of a connection shows two versions side by side, what has vanished, and the events to look at', async () => {
  stopClock()
  const world = await formatWorld()
  const at = `/console/p/${world.project}/platform/billing/connections/${world.connection.id}`
  const page = async (token = world.owner.token) => (await visit(at, token)).text
  expect(await page()).not.toContain('id="format"')
  await world.counted(...subscriptions(50, { latest_invoice: 'in_1', description: 'Chat' }, OLD))
  expect(await page()).not.toContain('vanished')
  const ids = await world.counted(
    ...subscriptions(19, { description: null }, NEW),
    ...subscriptions(1, { status: '<b>odd', description: 'Chat' }, NEW),
  )
  const last = await world.counted(stripeEventOf('invoice.updated', stripeInvoice()))
  for (const { token } of [world.owner, await addMember(world.project, 'viewer')]) {
    const text = await page(token)
    const section = text.slice(text.indexOf('<h2 id="format">'))
    expect(section).toContain(
      `latest_invoice of subscriptions has vanished: 50 of 50 had it in version ${OLD}, and none of 20 in version ${NEW}.`,
    )
    expect(section).toContain('The status “&lt;b&gt;odd” of subscriptions is unknown.')
    expect(section).toMatch(/<details open.*?><summary>Subscriptions: a field has vanished<\/summary>/)
    expect(section).toContain('<summary>Invoices</summary>')
    // The older version first, with the number of its states.
    expect(section).toMatch(new RegExp(`<th[^>]*>${OLD} \\(50\\)</th><th[^>]*>${NEW} \\(20\\)</th>`))
    const row = (field: string) =>
      (new RegExp(`<td><code>${field}</code></td>.*?</tr>`).exec(section)?.[0] ?? '').replaceAll(/<[^>]+>/g, ' ')
    expect(row('latest_invoice').split(/\s{2,}/)).toEqual(expect.arrayContaining(['100 %', '0 %', 'Vanished']))
    expect(row('description')).toMatch(/100 %.*5 %/)
    expect(row('description')).not.toContain('Vanished')
    const shown = [...section.matchAll(/href="[^"]*\/(evt_\w+)"/g)].map(([, id]) => id)
    expect(shown).toHaveLength(3)
    expect([...ids, ...last]).toEqual(expect.arrayContaining(shown.slice(0, 2)))
    expect(section).toContain(`/webhooks?connection_id=${world.connection.id}&amp;status=processed`)
  }
  const { body } = await call('/platform/v1/notices?open=true', { project: world.project, token: world.owner.token })
  expect(body.data).toMatchObject([{ kind: 'format_changed', object_id: world.connection.id }])
})
