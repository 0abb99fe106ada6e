/** What can be set for a project. */
export type Settings = {
  /** Whether admins and owners must have used a passkey or a recovery code in their session. */
  require_passkey: boolean
  /** How many active devices each consumer can have. */
  max_devices: number
}

/** The settings to change; the others stay. */
export type SettingsChange = { [Name in keyof Settings]?: Settings[Name] | undefined }

const DEFAULTS: Settings = { require_passkey: false, max_devices: 100 }

/** The settings of a project, with the defaults of those that were never set. */
export function settingsOf(stored: Partial<Settings> | null): Settings {
  return { ...DEFAULTS, ...stored }
}
