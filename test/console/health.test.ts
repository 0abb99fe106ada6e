import { expect, it } from 'vitest'
import { addMember, call, deliver, freshProject, STORE, settled, stripeConnection, stripeEvent } from '../harness'
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

it('what is muted does not alarm: not in the sidebar, and not on the health page, which says how many there are', async () => {
  const { project, owner } = await freshProject()
  const { id } = await stripeConnection(owner.token, project)
  const at = `/console/p/${project}`
  const fail = async () => {
    const { body } = await deliver(id, { ...stripeEvent(), data: null })
    await settled(project, owner.token, body.event_ids[0])
  }
  const mute = (code: string, method = 'PUT') =>
    call(`/platform/v1/billing/webhooks/failures/${id}/${code}/mute`, {
      method,
      token: owner.token,
      project,
      json: method === 'PUT' ? { until: null } : undefined,
    })
  const look = async () => {
    const status = await visit(`${at}/status`, owner.token)
    const { text } = await visit(`${at}/platform/billing/webhooks/health`, owner.token)
    return {
      status: /id="status"[^>]*>(\w+)</.exec(status.text)?.[1],
      failed: /id="events-count" class="count"[^>]*>([^<]+) </.exec(status.text)?.[1] ?? null,
      alarms: [...text.matchAll(/<div class="bad">|<a class="bad"|<a class="error"/g)].length,
      muted: [...text.matchAll(/<small>(\d+ muted)<\/small>/g)].map(([, note]) => note),
      warning: /<p class="warning bad">(.*?) </.exec(text)?.[1] ?? null,
    }
  }
  for (const _ of [1, 2]) await fail()
  const loud = { status: 'Failing', failed: '2', alarms: 3, muted: [] }
  const said = '2 of 2 events received in the last hour failed.'
  expect(await look()).toEqual({ ...loud, warning: said })
  await mute('object_busy') // no event has failed so
  expect(await look()).toEqual({ ...loud, warning: said })
  await mute('payload_invalid')
  // The job that picks up events has not run in this test.
  const quiet = { status: 'Degraded', failed: '0', alarms: 0, warning: null }
  expect(await look()).toEqual({ ...quiet, muted: ['2 muted', '2 muted', '2 muted'] })
  // Another cause.
  await STORE.prepare(
    "UPDATE events SET last_error_code = 'object_too_large' WHERE project_id = ?1 AND id = (SELECT max(id) FROM events WHERE project_id = ?1)",
  )
    .bind(project)
    .run()
  expect(await look()).toEqual({
    status: 'Failing',
    failed: '1',
    alarms: 3,
    muted: ['1 muted', '1 muted', '1 muted'],
    warning: '1 of 2 events received in the last hour failed, without those with a muted cause.',
  })
  await mute('payload_invalid', 'DELETE')
  expect((await look()).failed).toBe('2')
})
