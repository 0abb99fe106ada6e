import { PAGES, pageIn, visit } from '../console/visit'
import { type Answer, call, type Json } from '../harness'
import { CALLS as TOOL_CALLS } from '../mcp/calls'
import { rpc } from '../mcp/mcp'
import { isList, nameOf, ROUTES } from '../routes/of-app'
import { callRoute, tokenFor } from '../routes/walk'
import type { World } from '../routes/world'

/** Lets as many reads through as are sent. */

type Ask = (world: World, bindings: object) => Promise<Pick<Answer, 'status' | 'text'>>

export const WHOLE_CHANGED = 'POST /platform/v1/billing/catalog/preview, with every plan changed'
/** How the name of a tool begins. */
export const TOOL = 'the tool'
export const EXPLAINED = 'GET /platform/v1/consumers/:consumer/entitlements?explain=true'

const READS = ROUTES.filter(({ method, meta }) => method === 'GET' || meta.operation?.policy?.reads)
const routes = READS.map((route): [string, Ask] => [
  nameOf(route),
  (world, bindings) =>
    callRoute(world, route, { token: tokenFor(world, route), bindings, ...(isList(route) && { query: 'limit=100' }) }),
])
const explained: Ask = ({ project, secret }, bindings) =>
  call('/platform/v1/consumers/ext:sample/entitlements?explain=true', { project, token: secret, bindings })
/** A document in which every plan differs, by what it gives and by its prices. */
const wholeChanged: Ask = async ({ project, secret }, bindings) => {
  const path = '/platform/v1/billing/catalog'
  const { version: _, ...document } = (await call(path, { project, token: secret })).body
  for (const plan of Object.values<Json>(document.plans)) {
    plan.features = Object.fromEntries(Object.entries(plan.features).slice(1))
    plan.prices.pop()
  }
  return call(`${path}/preview`, { method: 'POST', json: document, project, token: secret, bindings })
}
const pages = PAGES.filter(({ method }) => method === 'GET').map((page): [string, Ask] => [
  nameOf(page),
  (world, bindings) => visit(pageIn(world, page), world.owner.token, { bindings }),
])

/** Every tool of /mcp, lists with their longest page and without filters. */
const tools = Object.entries(TOOL_CALLS).map(([name, { args, isList }]): [string, Ask] => [
  `${TOOL} ${name}`,
  (world, bindings) => {
    const widest = isList && { ref: undefined, status: undefined, limit: 100 }
    const asked = { name, arguments: { ...args(world), ...widest } }
    return rpc({ token: world.secret, project: world.project, bindings }, 'tools/call', asked)
  },
])

/** Every call that only reads, by its name: of the API, lists with their longest page, of the console, and the tools of agents. */
export const CALLS: readonly [name: string, ask: Ask][] = [
  ...routes,
  [EXPLAINED, explained],
  [WHOLE_CHANGED, wholeChanged],
  ...pages,
  ...tools,
]
