import { expect, it } from 'vitest'
import { call } from '../harness'
import { newConnection, newDomain, SSO } from './customers'
import { CONNECTIONS, start, team } from './team/team'

/*
 * One domain can be of a connection for the team and of one for customers. What asks by the domain finds the one of its own audience,
 * and nothing where there is only the other.
 */

/** Where somebody with an address of the domain is led: who works in the console, and who is a customer. */
async function ledBy(domain: string, { project, owner }: Awaited<ReturnType<typeof team>>) {
  const ofTeam = new URL((await start(`email=ada@${domain}`)).url, 'https://here').hostname
  const json = { email: `ada@${domain}`, redirect_uri: 'https://app.acme.dev/sso/callback?from=us', state: 's' }
  const asked = await call(`${SSO}/authorize`, { method: 'POST', project, token: owner.token, json })
  if (asked.status !== 201) return { ofTeam, ofCustomers: asked.status }
  const { headers } = await call(asked.body.url)
  return { ofTeam, ofCustomers: new URL(headers.get('Location') ?? '').hostname }
}

it('One domain leads each audience to its own connection', async () => {
  const of = await team()
  const { project, owner, domain, domainId, connection } = of
  expect(await ledBy(domain, of)).toEqual({ ofTeam: of.host, ofCustomers: 404 })

  const customers = await newConnection(project)
  const json = { domain_ids: [domainId] }
  const added = await call(`${CONNECTIONS}/${customers.id}`, { method: 'PATCH', project, token: owner.token, json })
  expect(added.status, added.text).toBe(200)
  const itsHost = new URL(customers.issuer).hostname
  expect(await ledBy(domain, of)).toEqual({ ofTeam: of.host, ofCustomers: itsHost })

  await call(`${CONNECTIONS}/${connection}`, { method: 'DELETE', project, token: owner.token })
  expect(await ledBy(domain, of)).toEqual({ ofTeam: 'here', ofCustomers: itsHost })
})

it('A domain of customers alone leads nobody to the console', async () => {
  const of = await team()
  const domain = newDomain()
  const { issuer } = await newConnection(of.project, { domains: [domain] })
  expect(await ledBy(domain, of)).toEqual({ ofTeam: 'here', ofCustomers: new URL(issuer).hostname })
})
