import { describe, expect, it } from 'vitest'
import { CHANGE_OBJECTS } from '../../src/feed/types'
import { addMember, call, freshProject, newHost, STORE, setHost, stripeConnection } from '../harness'
import { formToken, submit, visit } from './visit'

const pathIn = (project: string) => `/console/p/${project}/platform/webhook-endpoints`
const URL_OF_HOOK = 'https://sample.plain.dev/hook'

/** Adds an endpoint through the form. */
async function added(token: string, project: string, url = URL_OF_HOOK) {
  const form = (await visit(`${pathIn(project)}/new`, token)).text
  const once = /name="once" value="([^"]+)"/.exec(form)?.[1] ?? ''
  const fields = { once, url, types: 'consumer.*\r\nwebhook_endpoint.*', ordered: 'false' }
  const answer = await submit(pathIn(project), token, fields)
  const id = once.split('.')[0] ?? ''
  return { answer, fields, id, at: `${pathIn(project)}/${id}` }
}

describe('webhooks out in the console', () => {
  it('explains an empty list, and offers to add an endpoint to those who may', async () => {
    const { project, owner } = await freshProject()
    const viewer = await addMember(project, 'viewer')
    const mine = (await visit(pathIn(project), owner.token)).text
    expect(mine).toContain('No endpoints yet')
    expect(mine).toContain(`${pathIn(project)}/new"`)
    const theirs = (await visit(pathIn(project), viewer.token)).text
    expect(theirs).toContain('Ask an admin')
    expect(theirs).not.toContain(`${pathIn(project)}/new"`)
  })

  it('adds an endpoint and shows its secret once, also if the form is sent twice', async () => {
    const { project, owner } = await freshProject()
    const { answer, fields, at } = await added(owner.token, project)
    expect(answer.status).toBe(201)
    const secret = /whsec_[\w+/]{32}/.exec(answer.text)?.[0]
    expect(secret).toBeDefined()
    const again = await submit(pathIn(project), owner.token, fields)
    expect([again.status, again.headers.get('Location')]).toEqual([303, `${at}?done=endpoint_created_before`])
    const list = (await visit(pathIn(project), owner.token)).text
    expect(list).toContain(URL_OF_HOOK)
    expect(list).toContain('consumer.*, webhook_endpoint.*')
    expect(list).not.toContain(secret)
    expect(await endpointsOf(project)).toBe(1)
  })

  it('takes no id of its own choice or of another kind', async () => {
    const { project, owner } = await freshProject()
    const { fields } = await added(owner.token, project)
    const key = (await visit(`/console/p/${project}/platform/settings/api-keys/new`, owner.token)).text
    const ofKey = /name="once" value="([^"]+)"/.exec(key)?.[1] ?? ''
    for (const once of [ofKey, `whe_mine.${'f'.repeat(64)}`]) {
      expect((await submit(pathIn(project), owner.token, { ...fields, once })).status).toBe(403)
    }
    expect(await endpointsOf(project)).toBe(1)
  })

  it('says what is wrong with an address or a type, and keeps what was entered', async () => {
    const { project, owner } = await freshProject()
    const wrong = await submit(pathIn(project), owner.token, { url: 'https://10.0.0.1/x', types: 'consumer.*' })
    expect([wrong.status, wrong.text.includes('value="https://10.0.0.1/x"')]).toEqual([422, true])
    expect(wrong.text).toContain('not an IP address')
    const unknown = await submit(pathIn(project), owner.token, { url: URL_OF_HOOK, types: 'nothing.*' })
    expect(unknown.status).toBe(422)
    expect(unknown.text).toContain('Is not a type of change: nothing.*')
    expect(await endpointsOf(project)).toBe(0)
  })

  it('shows an endpoint to a viewer, and sends a test whose hostile answer is only text', async () => {
    const host = newHost('plain.dev')
    await setHost(host, { '/': { status: 500, body: '<script>alert(1)</script>' } })
    const { project, owner } = await freshProject()
    const { at } = await added(owner.token, project, `https://${host}/`)
    const sent = await submit(`${at}/test`, owner.token)
    expect([sent.status, sent.headers.get('Location')]).toEqual([303, expect.stringMatching(/\?test=whr_/)])
    const shown = (await visit(sent.headers.get('Location') ?? '', owner.token)).text
    expect(shown).toContain('The test was sent. Result: <span class="error">500</span>')
    expect(shown).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(shown).not.toContain('<script>alert')
    const { token } = await addMember(project, 'viewer')
    const seen = await visit(at, token)
    expect([seen.status, seen.text.includes('webhook_endpoint.<wbr/>test')]).toEqual([200, true])
    expect(seen.text).not.toContain('Send a test')
    expect((await submit(`${at}/test`, token)).status).toBe(403)
    expect(
      (
        await visit(
          at.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')),
          owner.token,
        )
      ).status,
    ).toBe(404)
  })

  it('disables, enables, changes and deletes an endpoint', async () => {
    const { project, owner } = await freshProject()
    const { at } = await added(owner.token, project)
    expect((await visit(`${at}/disable`, owner.token)).text).toContain('We send nothing to')
    expect((await submit(`${at}/disable`, owner.token)).status).toBe(303)
    expect((await visit(pathIn(project), owner.token)).text).toContain('by a user or an API key')
    await submit(`${at}/enable`, owner.token)
    expect((await visit(at, owner.token)).text).toContain('<span class="badge good">active')
    const form = (await visit(`${at}/edit`, owner.token)).text
    expect(boxesIn(form, 'types')).toEqual(['consumer.*', 'webhook_endpoint.*'])
    await submit(`${at}/edit`, owner.token, { url: URL_OF_HOOK, types: 'plan.created', ordered: 'true' })
    const changed = (await visit(at, owner.token)).text
    expect(changed).toContain('plan.created')
    expect(changed).toContain('One at a time')
    expect((await submit(`${at}/delete`, owner.token)).headers.get('Location')).toContain('endpoint_deleted')
    expect(await endpointsOf(project)).toBe(0)
  })

  it('adds a secret once, and removes one, but not the last one', async () => {
    const { project, owner } = await freshProject()
    const { at } = await added(owner.token, project)
    const page = (await visit(at, owner.token)).text
    const known = /name="known" value="([^"]+)"/.exec(page)?.[1] ?? ''
    const one = await submit(`${at}/secrets`, owner.token, { known })
    expect([one.status, /whsec_[\w+/]{32}/.test(one.text)]).toEqual([201, true])
    expect((await submit(`${at}/secrets`, owner.token, { known })).headers.get('Location')).toContain('added_before')
    expect(page).not.toContain('/remove"')
    expect((await visit(at, owner.token)).text).toContain(`${at}/secrets/${known}/remove"`)
    expect((await submit(`${at}/secrets/${known}/remove`, owner.token)).status).toBe(303)
    const { secrets } = await STORE.prepare('SELECT secrets FROM webhook_endpoints WHERE project_id = ?')
      .bind(project)
      .first<{ secrets: string }>()
      .then((row) => ({ secrets: JSON.parse(row?.secrets ?? '[]') as { id: string }[] }))
    const refused = await submit(`${at}/secrets/${secrets[0]?.id}/remove`, owner.token)
    expect([refused.status, refused.text.includes('An endpoint always has a secret')]).toEqual([409, true])
  })

  it('shows what was not delivered, with a link to the change, and sends it again', async () => {
    const { project, owner } = await freshProject()
    const { at, id } = await added(owner.token, project)
    await call('/platform/v1/consumers', { method: 'POST', project, token: owner.token, json: {} })
    const { body } = await call('/platform/v1/changes?types=consumer.created', { project, token: owner.token })
    const number = Number(body.data[0]?.number)
    await STORE.prepare(
      `INSERT INTO deliveries (project_id, endpoint_id, seq, type, state, tries, status)
       VALUES (?, ?, ?, 'consumer.created', 'failed', 10, 503)`,
    )
      .bind(project, id, number)
      .run()
    const shown = (await visit(at, owner.token)).text
    expect(shown).toContain('<span class="error">503</span>')
    const link = new RegExp(`href="(/console/p/[^"]*/changes\\?number=${number})"`).exec(shown)?.[1] ?? ''
    const change = (await visit(link, owner.token)).text
    expect(change).toContain('Consumer created')
    expect(change.match(/<tr>/g)).toHaveLength(2)
    const again = await submit(`${at}/deliveries/${number}/resend`, owner.token)
    expect([again.status, again.headers.get('Location')]).toEqual([303, `${at}?done=changes_resent`])
    const open = await STORE.prepare('SELECT until FROM resends WHERE project_id = ?').bind(project).first('until')
    expect(open).toBe(number)
    expect((await submit(`${at}/deliveries/${number + 1000}/resend`, owner.token)).status).toBe(404)
  })

  it('resends a range, refuses one that is not there, and shows how far it has come', async () => {
    const { project, owner } = await freshProject()
    const { at } = await added(owner.token, project)
    for (let i = 0; i < 3; i++) {
      await call('/platform/v1/consumers', { method: 'POST', project, token: owner.token, json: {} })
    }
    const asked = (await visit(`${at}/resend`, owner.token)).text
    const until = Number(/name="until"[^>]*value="(\d+)"/.exec(asked)?.[1])
    expect(until).toBeGreaterThan(2)
    expect(asked).toContain('Only failed changes')
    const beyond = await submit(`${at}/resend`, owner.token, { after: '0', until: String(until + 9) })
    expect([beyond.status, beyond.text.includes(`Must be at most ${until}`)]).toEqual([422, true])
    for (const fields of [
      { after: '2', until: '1' },
      { after: '', until: '1' },
      { after: '-1', until: '1' },
    ]) {
      expect((await submit(`${at}/resend`, owner.token, fields)).status).toBe(422)
    }
    const fields = { after: '1', until: String(until), failed_only: 'true' }
    const sent = await submit(`${at}/resend`, owner.token, fields)
    expect([sent.status, sent.headers.get('Location')]).toEqual([303, `${at}?done=changes_resent`])
    expect(
      await STORE.prepare('SELECT after, until, failed_only FROM resends WHERE project_id = ?').bind(project).all(),
    ).toMatchObject({
      results: [{ after: 1, until, failed_only: 1 }],
    })
    const shown = (await visit(at, owner.token)).text
    expect(shown).toContain(`2 to ${until}`)
    expect(shown).toContain('Only failed')
    expect(shown).toContain('0 %')
    await STORE.prepare('UPDATE resends SET position = until, finished_at = ?2 WHERE project_id = ?1')
      .bind(project, Date.now())
      .run()
    const { token } = await addMember(project, 'viewer')
    const theirs = (await visit(at, token)).text
    expect(theirs).toContain('100 %')
    expect(theirs).not.toContain(`${at}/resend"`)
    expect((await submit(`${at}/resend`, token, fields)).status).toBe(403)
  })

  it('adds and changes a relay, and shows which events it sends', async () => {
    const { project, owner } = await freshProject()
    const { id } = await stripeConnection(owner.token, project)
    const form = (await visit(`${pathIn(project)}/new`, owner.token)).text
    const once = /name="once" value="([^"]+)"/.exec(form)?.[1] ?? ''
    const fields = { once, url: URL_OF_HOOK, sends: 'events', types: 'consumer.*', include_object: 'false' }
    const wrong = await submit(pathIn(project), owner.token, { ...fields, 'relay.connection_ids': 'con_other' })
    expect([wrong.status, wrong.text.includes('con_other is not')]).toEqual([422, true])
    const names = {
      'relay.connection_ids': id,
      'relay.event_types': 'invoice.*\r\ncharge.failed',
      'relay.replays': 'true',
    }
    expect((await submit(pathIn(project), owner.token, { ...fields, ...names })).status).toBe(201)
    expect((await visit(pathIn(project), owner.token)).text).toContain('Vendor events')
    const at = `${pathIn(project)}/${once.split('.')[0]}`
    const shown = (await visit(at, owner.token)).text
    for (const text of ['>Stripe</a>', 'invoice.*, charge.failed', '>Sent<']) expect(shown).toContain(text)
    const edit = (await visit(`${at}/edit`, owner.token)).text
    expect(edit).toContain('invoice.*\ncharge.failed</textarea>')
    expect(boxesIn(edit, 'relay.connection_ids')).toEqual([id])
    expect(edit).toMatch(new RegExp(`value="${id}"[^>]*>\\s*Stripe \\(Stripe`))
    expect(edit).not.toContain('name="types"')
    const changed = { url: URL_OF_HOOK, sends: 'events', 'relay.connection_ids': '', 'relay.event_types': '' }
    await submit(`${at}/edit`, owner.token, changed)
    const { results } = await STORE.prepare('SELECT types, relay FROM webhook_endpoints WHERE project_id = ?')
      .bind(project)
      .all()
    expect(results).toEqual([{ types: '[]', relay: '{"connection_ids":null,"event_types":null,"replays":false}' }])
  })
})

describe('the types of an endpoint', () => {
  it('have a box for each kind of object, and a text for single types', async () => {
    const { project, owner } = await freshProject()
    const form = (await visit(`${pathIn(project)}/new`, owner.token)).text
    for (const object of CHANGE_OBJECTS) expect(form).toContain(`name="types" value="${object}.*"`)
    expect(boxesIn(form, 'types')).toEqual(['subscription.*', 'consumer.*'])
    const { at } = await added(owner.token, project)
    const sent = new URLSearchParams({ form_token: await formToken(owner.token), url: URL_OF_HOOK })
    for (const types of ['invoice.*', 'project.*', 'plan.created\r\nplan.updated']) sent.append('types', types)
    expect((await visit(`${at}/edit`, owner.token, { form: sent })).status).toBe(303)
    const types = await STORE.prepare('SELECT types FROM webhook_endpoints WHERE project_id = ?').bind(project).first()
    expect(types).toEqual({ types: '["invoice.*","project.*","plan.created","plan.updated"]' })
    const edit = (await visit(`${at}/edit`, owner.token)).text
    expect(boxesIn(edit, 'types')).toEqual(['invoice.*', 'project.*'])
    expect(edit).toContain('>plan.created\nplan.updated</textarea>')
  })
})

/** The values of the boxes with a name that are ticked. */
const boxesIn = (text: string, name: string) =>
  [...text.matchAll(/<input type="checkbox" name="([^"]+)" value="([^"]+)" checked=""/g)].flatMap(([, of, value]) =>
    of === name ? [value] : [],
  )

async function endpointsOf(project: string) {
  return STORE.prepare('SELECT count(*) AS n FROM webhook_endpoints WHERE project_id = ?').bind(project).first('n')
}
