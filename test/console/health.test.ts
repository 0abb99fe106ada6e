import { expect, it } from 'vitest'
import { addMember, deliver, freshProject, settled, stripeConnection, stripeEvent } from '../harness'
import { visit } from './visit'

it('the health page lists all that is wrong, and what failed of each connection, with links to where it can be fixed', async () => {
  const { project, owner } = await freshProject()
  const [failing, refusing] = [
    await stripeConnection(owner.token, project),
    await stripeConnection(owner.token, project),
  ]
  const { body } = await deliver(failing.id, { ...stripeEvent(), data: null })
  await settled(project, owner.token, body.event_ids[0])
  await deliver(refusing.id, stripeEvent(), { secret: 'whsec_of_another' })
  const at = `/console/p/${project}/platform/billing`
  for (const token of [owner.token, (await addMember(project, 'viewer')).token]) {
    const { text } = await visit(`${at}/webhooks/health`, token)
    const found = [...text.matchAll(/<p class="warning (\w*)">(.*?) <a href="([^"]+)">/g)].map(([, ...one]) => one)
    expect(found).toEqual([
      ['bad', '1 of 1 events received in the last hour failed.', `${at}/webhooks?status=failed`],
      ['', expect.stringContaining('refused every delivery of the last hour'), `${at}/connections`],
    ])
    const bad = [...text.matchAll(/<a class="error" href="([^"]+)">1<span class="unseen"> (\w+)/g)]
    expect(bad.map(([, ...one]) => one)).toEqual([
      [`${at}/webhooks?status=failed&amp;connection_id=${failing.id}`, 'failed'],
      [`${at}/connections/${refusing.id}#refused`, 'refused'],
    ])
  }
  const { text: shown } = await visit(`${at}/webhooks/health`, owner.token)
  const [, row = ''] = /aria-label="Refused deliveries".*?<tbody>(.*?)<\/tbody>/s.exec(shown) ?? []
  expect(row.match(/<tr/g)).toHaveLength(1)
  expect(row).toContain(`href="${at}/connections/${refusing.id}#refused"`)
  // There, the row of the cause says what can be done.
  const { text } = await visit(`${at}/webhooks?status=failed&connection_id=${failing.id}`, owner.token)
  expect(text).toContain('aria-label="Failed events by cause"')
})
