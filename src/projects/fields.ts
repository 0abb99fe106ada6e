import * as z from 'zod'
import { named, visibleText } from '../http/fields'
import { MAX_DEVICES, MAX_NAME } from './limits'

const name = visibleText(MAX_NAME)

export const ProjectBody = named('ProjectName', z.strictObject({ name }), { name: 'Acme' })

export const ProjectSettings = named(
  'ProjectSettings',
  z.object({
    require_passkey: z
      .boolean()
      .describe('Whether admins and owners must have used a passkey or a recovery code in their session.'),
    max_devices: z.int().min(1).max(MAX_DEVICES).describe('How many active devices each consumer can have.'),
  }),
  { require_passkey: false, max_devices: 100 },
)

export const ChangeProjectBody = named(
  'ChangeProject',
  z
    .strictObject({
      name: name.optional(),
      settings: named('ChangeProjectSettings', z.strictObject(ProjectSettings.shape).partial(), {
        require_passkey: true,
      }).optional(),
    })
    .refine((changes) => Object.keys(changes).length > 0, {
      error: 'must have at least one of name and settings',
      params: { code: 'required' },
    }),
  { name: 'Acme' },
)
