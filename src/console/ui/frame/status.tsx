import type { PipelineStatus } from '../../../health/health'

const WORDS: Record<PipelineStatus, string> = { ok: 'Healthy', degraded: 'Degraded', failing: 'Failing' }

/**
 * The status of the project's pipeline, at the end of the sidebar. It loads after the page, so that no
 * page waits for it. Without a script it is a link to the health page.
 *
 * @param of null if it is not known yet
 */
export function Status({ of, at, health }: { of: PipelineStatus | null; at: string; health: string }) {
  const asking = { 'hx-get': at, 'hx-swap': 'outerHTML', 'data-live': '' }
  return (
    <a
      id="status"
      class={`status ${of ?? ''}`}
      href={health}
      hx-trigger={of === null ? 'load, every 60s' : 'every 60s'}
      {...asking}
    >
      {of === null ? 'Status' : WORDS[of]}
    </a>
  )
}
