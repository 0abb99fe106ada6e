ALTER TABLE `api_keys` ADD `secret_issued_to` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `secret_lineage` text;--> statement-breakpoint
ALTER TABLE `sign_in_codes` ADD `mailbox` text;--> statement-breakpoint
ALTER TABLE `sign_in_codes` ADD `requester` text;--> statement-breakpoint
CREATE INDEX `sign_in_codes_mailbox` ON `sign_in_codes` (`mailbox`,`created_at`);--> statement-breakpoint
CREATE INDEX `sign_in_codes_requester` ON `sign_in_codes` (`mailbox`,`requester`,`created_at`);--> statement-breakpoint
-- Whom a rotated key's secret was handed to, from the audit log. A key that was never rotated stays null: its minter.
UPDATE `api_keys` SET `secret_issued_to` = `last`.`actor_id` FROM (
	SELECT `object_id`, `actor_id`, max(`id`) FROM `audit_log` WHERE `action` = 'api_key.rotated' GROUP BY `object_id`
) AS `last` WHERE `last`.`object_id` = `api_keys`.`id`;
--> statement-breakpoint
-- The other API key that rotated it last, if no user has rotated it since.
UPDATE `api_keys` SET `secret_lineage` = json_array(`last`.`actor_id`) FROM (
	SELECT `object_id`, `actor_type`, `actor_id`, max(`id`) FROM `audit_log`
	WHERE `action` = 'api_key.rotated' AND `actor_id` <> `object_id` GROUP BY `object_id`
) AS `last` WHERE `last`.`object_id` = `api_keys`.`id` AND `last`.`actor_type` = 'api_key';
