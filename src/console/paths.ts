/** The paths of a project's pages. */
export function projectPaths(project: string) {
  const base = `/console/p/${encodeURIComponent(project)}`
  return {
    start: base,
    keys: `${base}/platform/settings/api-keys`,
    audit: `${base}/platform/settings/audit-log`,
    connections: `${base}/platform/billing/connections`,
    events: `${base}/platform/billing/webhooks`,
    billing: `${base}/platform/billing`,
    health: `${base}/platform/billing/webhooks/health`,
  }
}
