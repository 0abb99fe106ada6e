import type { InGrace } from '../../../domains/domain'
import type { PipelineStatus } from '../../../health/health'
import { toUnicode } from '../../../lib/punycode'
import { ICON, ICON_DEGRADED, ICON_FAILING } from '../../asset-names'
import { projectPaths } from '../../paths'
import { exact } from '../format'

const WORDS: Record<PipelineStatus, string> = { ok: 'Healthy', degraded: 'Degraded', failing: 'Failing' }

/** The icon of a tab says what the status is, too. */
const FAVICONS: Record<PipelineStatus, string> = { ok: ICON, degraded: ICON_DEGRADED, failing: ICON_FAILING }

/**
 * The status of the project's pipeline, at the end of the sidebar. It loads after the page, so that no
 * page waits for it. Without a script it is a link to the health page.
 *
 * @param of null if it is not known yet
 */
export function PipelineBadge({ of, at, health }: { of: PipelineStatus | null; at: string; health: string }) {
  const asking = { 'hx-get': at, 'hx-swap': 'outerHTML', 'data-live': '' }
  return (
    <a
      id="status"
      class={`status ${of ?? ''}`}
      href={health}
      hx-trigger={of === null ? 'load, every 60s' : 'every 60s'}
      data-favicon={of === null ? undefined : FAVICONS[of]}
      {...asking}
    >
      {of === null ? 'Status' : WORDS[of]}
    </a>
  )
}

/**
 * The number of failed events, beside the link to the events. It comes with the status, in an answer of its own.
 *
 * @param n 0 if there are none, or if it is not known yet
 */
export function FailedCount({ n, late }: { n: number; late?: boolean }) {
  return (
    <span id="failed-count" class="count" hx-swap-oob={late ? 'true' : undefined} hidden={n === 0}>
      {n.toLocaleString('en')} <span class="unseen">failed</span>
    </span>
  )
}

/** A warning on every page of a project, for each domain whose record is gone. */
export function GraceNotices({ project, domains }: { project: string; domains: readonly InGrace[] }) {
  return (
    <>
      {domains.map(({ id, hostname, purpose, grace_until }) => (
        <p class="warning" role="status">
          The DNS record of <a href={`${projectPaths(project).domains}/${id}`}>{toUnicode(hostname)}</a> is missing.{' '}
          {purpose === 'sso' ? 'Single sign-on for it ends' : 'It stops serving pages'} on{' '}
          {grace_until === null ? 'a day soon' : exact(grace_until)}.
        </p>
      ))}
    </>
  )
}
