export type ProjectPaths = ReturnType<typeof projectPaths>

/** The paths of a project's pages. */
export function projectPaths(project: string) {
  const start = `/console/p/${encodeURIComponent(project)}`
  const settings = `${start}/platform/settings`
  const billing = `${start}/platform/billing`
  const consumers = `${start}/platform/consumers`
  const events = `${billing}/webhooks`
  return {
    start,
    status: `${start}/status`,
    search: `${start}/search`,
    notices: `${start}/platform/notices`,
    changes: `${start}/platform/changes`,
    endpoints: `${start}/platform/webhook-endpoints`,
    reference: `${start}/reference`,
    general: `${settings}/general`,
    keys: `${settings}/api-keys`,
    members: `${settings}/members`,
    domains: `${settings}/domains`,
    sso: `${settings}/sso`,
    audit: `${settings}/audit-log`,
    connections: `${billing}/connections`,
    billing,
    customers: `${billing}/customers`,
    plans: `${billing}/plans`,
    features: `${billing}/features`,
    consumers,
    unlinked: `${consumers}/unlinked`,
    events,
    replays: `${events}/replays`,
    health: `${events}/health`,
  }
}
