import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { DAY } from '../../../lib/time'
import { RESTORABLE_FOR } from '../../../projects/limits'
import type { Project } from '../../../tenancy/project'
import { pathsOf } from '../../page'
import { type Refusal, UNSENT } from '../../refusal'
import { Confirm } from '../../ui/confirm'
import { Field, Wrong } from '../../ui/controls'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'

/** How long a deleted project can be restored, in words. */
export const RESTORABLE = plural(RESTORABLE_FOR / DAY, 'day')

/**
 * Asks for the name of a project before it is deleted. The field has another name than that of the page below the dialog, as
 * its id.
 */
export function deletePage(c: Context<HttpEnv>, { name }: Project, { mistakes, status }: Refusal = UNSENT) {
  const { general } = pathsOf(c)
  const wrong = mistakes.name && 'This is not the name of the project. Nothing was deleted.'
  return show(
    c,
    { title: 'Delete this project', section: 'general', above: ['General', general], status },
    <Confirm
      c={c}
      title={`Delete “${name}”?`}
      to={`${general}/delete`}
      verb="Delete project"
      back={general}
      danger
      choice={
        <Field
          name="typed"
          label="Type the name of the project to delete it"
          required
          hint={name}
          mistakes={wrong ? { typed: wrong } : undefined}
        />
      }
    >
      <ul>
        <li>All API keys stop working immediately.</li>
        <li>Ingest URLs return 404, so vendors’ events are missed. Events that wait are not processed.</li>
        <li>No member can open the project.</li>
      </ul>
      <p>
        An owner can undo this for {RESTORABLE}, on the page “Projects”. Then all of its data is deleted permanently:
        events, billing state, members and the audit log.
      </p>
      <Wrong>{mistakes.form}</Wrong>
    </Confirm>,
  )
}
