DROP TRIGGER `audit_log_told`;
--> statement-breakpoint
CREATE TRIGGER `audit_log_told` AFTER INSERT ON `audit_log`
WHEN NEW.`object_type` IN ('api_key', 'connection', 'consumer', 'customer', 'device', 'entitlement_key', 'event', 'feature', 'grant', 'import', 'plan', 'project', 'replay', 'webhook_endpoint')
	AND NOT (NEW.`action` = 'project.settings_changed' AND EXISTS (SELECT 1 FROM json_each(NEW.`details`) WHERE `key` IN ('require_passkey', 'trusted_connections')))
BEGIN INSERT INTO `changes` (`project_id`, `seq`, `at`, `items`)
	VALUES (NEW.`project_id`, coalesce((SELECT max(`seq`) FROM `changes` WHERE `project_id` = NEW.`project_id`), 0) + 1, CAST(unixepoch('subsec') * 1000 AS INTEGER),
	json_array(json_patch('{}', json_object('type', NEW.`action`, 'object', NEW.`object_type`, 'id', NEW.`object_id`, 'vendor', NEW.`details` ->> 'vendor',
		'customer', iif(NEW.`object_type` = 'customer', NEW.`object_id`, NULL),
		'consumer_id', coalesce(NEW.`details` ->> 'consumer', NEW.`details` ->> 'into', iif(NEW.`object_type` = 'consumer', NEW.`object_id`, NULL)),
		'former', iif(NEW.`action` = 'consumer.merged', json_object('consumer_id', NEW.`object_id`), NULL),
		'fields', iif(NEW.`action` LIKE '%.updated' OR NEW.`action` = 'project.settings_changed',
			CASE json_type(NEW.`details`, '$.fields') WHEN 'array' THEN NEW.`details` -> 'fields'
			ELSE (SELECT json_group_array(`key`) FROM json_each(NEW.`details`) WHERE `key` <> 'before') END, NULL),
		'begun_by', iif(NEW.`object_type` = 'api_key', NEW.`details` ->> 'begun_by', NULL), 'cause', NEW.`id`)))); END;
--> statement-breakpoint
DROP TRIGGER `audit_log_counted`;
--> statement-breakpoint
CREATE TRIGGER `audit_log_counted` AFTER INSERT ON `audit_log`
WHEN NEW.`object_type` IN ('project', 'member', 'invitation', 'domain', 'sso_connection') AND NEW.`actor_type` <> 'system'
BEGIN
	INSERT INTO `directory_changes` (`project_id`, `day`, `entries`, `bytes`, `key_entries`, `key_bytes`)
	VALUES (NEW.`project_id`, (((((((((instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 6, 1)) - 1) * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 7, 1)) - 1) * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 8, 1)) - 1) * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 9, 1)) - 1) * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 10, 1)) - 1) * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 11, 1)) - 1) * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 12, 1)) - 1) * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 13, 1)) - 1) * 32 + instr('0123456789abcdefghjkmnpqrstvwxyz', substr(NEW.`id`, 14, 1)) - 1) / 86400000, 1, 250 + coalesce(octet_length(NEW.`details`), 0),
		NEW.`actor_type` = 'api_key', iif(NEW.`actor_type` = 'api_key', 250 + coalesce(octet_length(NEW.`details`), 0), 0))
	ON CONFLICT DO UPDATE SET
		`entries` = iif(`day` = excluded.`day`, `entries`, 0) + 1,
		`bytes` = iif(`day` = excluded.`day`, `bytes`, 0) + excluded.`bytes`,
		`key_entries` = iif(`day` = excluded.`day`, `key_entries`, 0) + excluded.`key_entries`,
		`key_bytes` = iif(`day` = excluded.`day`, `key_bytes`, 0) + excluded.`key_bytes`,
		`day` = excluded.`day`;
	SELECT RAISE(ABORT, 'daily_limit_reached') FROM `directory_changes`
	WHERE `project_id` = NEW.`project_id`
	AND (`entries` - max(`key_entries` - 700, 0) > 1000 OR `bytes` - max(`key_bytes` - 358400, 0) > 524288
		OR (NEW.`actor_type` = 'api_key' AND (`key_entries` > 700 OR `key_bytes` > 358400)))
	AND NEW.`action` NOT IN ('member.removed', 'member.left', 'member.break_glass_taken', 'invitation.revoked', 'invitation.declined',
		'domain.deleted', 'sso_connection.disabled', 'sso_connection.deleted', 'project.deleted', 'sso.bypassed')
	AND NOT (NEW.`action` = 'member.role_changed' AND instr('viewer developer admin owner', NEW.`details` ->> 'to')
		< instr('viewer developer admin owner', NEW.`details` ->> 'from'))
	AND coalesce(NEW.`details`, '') <> '{"enforce":false}'
	AND NOT (NEW.`action` = 'project.settings_changed'
		AND NOT EXISTS (SELECT 1 FROM json_each(NEW.`details`) `changed` WHERE `changed`.`key` NOT IN ('require_passkey', 'trusted_connections', 'before'))
		AND coalesce(NEW.`details` ->> 'require_passkey', 1)
		AND coalesce(json_array_length(NEW.`details`, '$.trusted_connections') < (SELECT json_array_length(`settings`, '$.trusted_connections')
			FROM `projects` WHERE `id` = NEW.`project_id`), 1)
		AND NOT EXISTS (SELECT 1 FROM json_each(NEW.`details`, '$.trusted_connections') `trusted` WHERE `trusted`.`value` NOT IN
			(SELECT `before`.`value` FROM `projects`, json_each(`projects`.`settings`, '$.trusted_connections') `before`
				WHERE `projects`.`id` = NEW.`project_id`)));
END;
