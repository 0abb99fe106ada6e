import { beforeAll, describe, expect, it } from 'vitest'
import changes from '../../docs/guides/changes.md?raw'
import customerKeys from '../../docs/guides/customer-keys.md?raw'
import devices from '../../docs/guides/devices.md?raw'
import mirror from '../../docs/guides/mirror.md?raw'
import ssoCustomers from '../../docs/guides/sso-customers.md?raw'
import firstHour from '../../docs/start/first-hour.md?raw'
import { presetsFor } from '../../src/console/pages/api-keys/presets'
import { ROLE_SCOPES } from '../../src/lib/access'
import { call, freshProject, mint } from '../harness'
import { visit } from './visit'

/** The calls in a text of curl commands: `as -X PUT $API/consumers/ext:acme -d '{}'`, or a whole curl command. */
function callsIn(text: string) {
  // A variable of the shell stands for an id, which nothing has.
  const commands =
    text
      .replaceAll('\\\n', ' ')
      .replaceAll(/'\$\w+'/g, 'sso_…')
      .match(/^(curl|as) .*$/gm) ?? []
  return commands.map((command) => {
    const body = /-d '([^']*)'/.exec(command)?.[1]
    const [, path = ''] = /(?:\/platform\/v1|\$API)(\/[^\s"]+)/.exec(command) ?? []
    const method = /-X (\w+)/.exec(command)?.[1] ?? (body === undefined ? 'GET' : 'POST')
    return { path: `/platform/v1${path}`, method, body }
  })
}
const shellIn = (doc: string) => [...doc.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block).join('\n')
const unescaped = (html: string) => html.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')

describe('a key with the preset that an example names', () => {
  let owner: string
  let project: string
  beforeAll(async () => {
    const made = await freshProject()
    owner = made.owner.token
    project = made.project
  })
  const presetOf = (name: string) => {
    const found = presetsFor(ROLE_SCOPES.owner).find((preset) => preset.name === name)
    if (!found) throw new Error(`no preset ${name}`)
    return found
  }
  const keyOf = async (name: string) =>
    (await mint(owner, project, { name, scopes: [...presetOf(name).scopes] })).secret
  const statuses = async (name: string, text: string) => {
    const token = await keyOf(name)
    const all: [string, number][] = []
    for (const { path, method, body } of callsIn(text)) {
      const headers = { 'Content-Type': 'application/json' }
      const { status } = await call(path, { method, token, project, ...(body !== undefined && { body, headers }) })
      all.push([`${method} ${path}`, status])
    }
    return all
  }

  it('can make the call of the page of consumers, which it names', async () => {
    const { text } = await visit(`/console/p/${project}/platform/consumers`, owner)
    const example = unescaped(/id="put">(.*?)<\/pre>/s.exec(text)?.[1] ?? '')
    expect(text).toContain(`<q>${presetOf('application').label}</q>`)
    expect(await statuses('application', example)).toEqual([['PUT /platform/v1/consumers/ext:user_4711', 201]])
  })

  it.each([
    ['devices.md', devices, [200, 201, 200, 404, 200]], // 404: the id of the device is left out
    ['customer-keys.md', customerKeys, [201, 201, 200, 200]],
  ])('can make the calls of docs/%s', async (_, doc, expected) => {
    expect(doc).toContain(`**${presetOf('application').label}**`)
    const [first = ''] = shellIn(doc).split(/^curl -s localhost/m)
    const made = await statuses('application', first)
    expect(made.map(([, status]) => status)).toEqual(expected)
  })

  it('can follow the feed, and has all that the mirror needs', async () => {
    expect(changes).toContain(`**${presetOf('copy').label}**`)
    expect(await statuses('copy', shellIn(changes))).toEqual([['GET /platform/v1/changes?after=latest', 200]])
    const [, needs = ''] = /The key needs the scopes ([^.]+)\./.exec(mirror) ?? []
    const named = [...needs.matchAll(/`([a-z_]+:[a-z]+)`/g)].map(([, scope]) => scope)
    expect(named.length).toBeGreaterThan(3)
    expect(presetOf('copy').scopes).toEqual(expect.arrayContaining(named))
  })

  it('can start a sign-in and exchange its code', async () => {
    expect(ssoCustomers).toContain(`**${presetOf('sign_in').label}**`)
    const calls = shellIn(ssoCustomers).match(/^as \$API\/sso\/(authorize|token) .*$/gm) ?? []
    const made = await statuses('sign_in', calls.join('\n'))
    // The ids in the text are shortened, so that nothing has them. Without the scope, both are 403.
    expect(made.map(([, status]) => status)).toEqual([422, 400])
  })

  it('can make the first call, whatever its preset', async () => {
    for (const { name } of presetsFor(ROLE_SCOPES.owner)) {
      const { status, body } = await call('/platform/v1/api-keys/self', { token: await keyOf(name), project })
      expect([name, status, body.key.scopes.length]).toEqual([name, 200, presetOf(name).scopes.length])
    }
  })

  it('is the one that the first hour names for the guides', () => {
    expect(firstHour).toContain(`**${presetOf('application').label}**`)
  })
})
