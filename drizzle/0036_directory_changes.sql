CREATE TABLE `directory_changes` (
	`project_id` text PRIMARY KEY NOT NULL,
	`day` integer NOT NULL,
	`entries` integer NOT NULL,
	`bytes` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `domains_released` ON `domains` (`state_since`) WHERE state = 'released';
--> statement-breakpoint
CREATE TRIGGER `audit_log_counted` AFTER INSERT ON `audit_log`
WHEN NEW.`object_type` IN ('project', 'member', 'invitation', 'domain', 'sso_connection') AND NEW.`actor_type` <> 'system'
BEGIN
	INSERT INTO `directory_changes` (`project_id`, `day`, `entries`, `bytes`)
	VALUES (NEW.`project_id`, (((((((((instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 6, 1)) - 1) * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 7, 1)) - 1) * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 8, 1)) - 1) * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 9, 1)) - 1) * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 10, 1)) - 1) * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 11, 1)) - 1) * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 12, 1)) - 1) * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 13, 1)) - 1) * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 14, 1)) - 1) / 86400000, 1, 250 + coalesce(octet_length(NEW.`details`), 0))
	ON CONFLICT DO UPDATE SET
		`entries` = iif(`day` = excluded.`day`, `entries`, 0) + 1,
		`bytes` = iif(`day` = excluded.`day`, `bytes`, 0) + excluded.`bytes`,
		`day` = excluded.`day`;
	SELECT RAISE(ABORT, 'daily_limit_reached') FROM `directory_changes`
	WHERE `project_id` = NEW.`project_id` AND (`entries` > 1000 OR `bytes` > 524288)
	AND NEW.`action` NOT IN ('member.removed', 'member.left', 'member.break_glass_taken', 'invitation.revoked', 'invitation.declined',
		'domain.deleted', 'sso_connection.disabled', 'sso_connection.deleted', 'project.deleted', 'sso.bypassed')
	AND coalesce(NEW.`details`, '') <> '{"enforce":false}';
END;
