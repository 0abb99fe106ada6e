import { projectPaths } from '../paths'
import type { User } from '../session'

export type Section = 'keys' | 'events' | 'billing' | 'connections' | 'health' | 'audit' | 'reference'

/** The sections of the user's project, without those that the user may not see. */
export function Tabs({ user, section }: { user: User; section?: Section | undefined }) {
  const paths = user.project_id === null ? null : projectPaths(user.project_id)
  const tabs: [Section, string, string][] = [
    ...(paths
      ? ([
          ['keys', 'API keys', paths.keys],
          ['events', 'Webhook events', paths.events],
          ['billing', 'Billing', `${paths.billing}/subscriptions`],
          ['connections', 'Connections', paths.connections],
          ['health', 'Health', paths.health],
          ...(user.scopes.includes('audit_log:read') ? [['audit', 'Audit log', paths.audit]] : []),
        ] as [Section, string, string][])
      : []),
    ['reference', 'API reference', paths ? `${paths.start}/reference` : '/console/reference'],
  ]
  return (
    <nav class="tabs" aria-label="Sections">
      {tabs.map(([name, label, path]) => (
        <a href={path} aria-current={name === section ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  )
}
