ALTER TABLE `sso_connections` ADD `discovery` text;--> statement-breakpoint
ALTER TABLE `sso_connections` ADD `end_session_endpoint` text;