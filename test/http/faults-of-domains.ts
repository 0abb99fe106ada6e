import { newApi, newName, publish, verified } from '../domains/domains'
import { DIRECTORY } from '../harness'

/** For each fault of domains, a request that is refused with it. */
export const OF_DOMAINS = {
  domain_exists: async () => {
    const { api } = await newApi()
    const name = newName()
    await api.add(name)
    return api.add(name)
  },
  domain_limit_reached: async () => {
    const { api } = await newApi()
    for (let n = 0; n < 50; n++) await api.add(newName())
    return api.add(newName())
  },
  hostname_in_use: async () => {
    const [holder, other] = [await newApi(), await newApi()]
    const held = await verified(holder.api, 'surface')
    const { body } = await other.api.add(held.hostname, 'surface')
    await publish(held, body)
    return other.api.verify(body.id)
  },
  domain_released: async () => {
    const { api } = await newApi()
    const { body } = await api.add(newName())
    await api.remove(body.id)
    return api.verify(body.id)
  },
  domain_enforced: async () => {
    const { api, project } = await newApi()
    const domain = await verified(api)
    await enforce(project, domain.id)
    return api.remove(domain.id)
  },
}

/** Makes the team of a project sign in through a connection that needs a domain. */
export async function enforce(project: string, domain: string) {
  await DIRECTORY.batch([
    DIRECTORY.prepare('UPDATE members SET break_glass = 1 WHERE project_id = ?').bind(project),
    DIRECTORY.prepare(
      "INSERT INTO sso_connection_domains (project_id, domain_id, audience, connection_id) VALUES (?, ?, 'team', 'sso_1')",
    ).bind(project, domain),
    DIRECTORY.prepare("UPDATE projects SET sso_enforced_by = 'sso_1' WHERE id = ?").bind(project),
  ])
}
