import { projectOf } from '../../../http/auth'
import { codeNamed } from '../../../inbox/failures/fields'
import { failureCause } from '../../../inbox/failures/mute'
import { pathsOf } from '../../page'
import { muteActions } from '../mutes/actions'
import { adviceOnCause } from './cause-parts'

/** Mutes causes of failed events, and unmutes them. */
export const failureMutes = muteActions({
  at: '/failures/:connection/:code',
  needs: 'billing:write',
  title: 'Mute failed events',
  section: 'events',
  causeIn: (c) => failureCause(projectOf(c.get('actor')), c.req.param('connection') ?? '', c.req.param('code') ?? ''),
  list: (c) => ['Failed events', `${pathsOf(c).events}?status=failed`],
  says: ({ code }, { name, vendor }) => (
    <>
      <p>
        <strong>{adviceOnCause({ vendor, last_error_code: codeNamed(code) ?? null }).what}</strong> Connection: {name}
      </p>
      <p>
        While the cause is muted, <em>Needs attention</em> does not list it, and it alone sends no notice. Its events
        are still counted and listed, and health still reports them.
      </p>
    </>
  ),
})
