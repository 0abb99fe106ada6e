import { projectPaths } from '../paths'

export type Section = 'keys' | 'events' | 'billing' | 'connections' | 'health' | 'reference'

export function Tabs({ project, section }: { project?: string | undefined; section?: Section | undefined }) {
  const paths = project === undefined ? null : projectPaths(project)
  const tabs: [Section, string, string][] = [
    ...(paths
      ? ([
          ['keys', 'API keys', paths.keys],
          ['events', 'Webhook events', paths.events],
          ['billing', 'Billing', `${paths.billing}/subscriptions`],
          ['connections', 'Connections', paths.connections],
          ['health', 'Health', paths.health],
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
